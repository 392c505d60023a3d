"""Findings about rare and frequent pieces: what of the attention to text depends on how often a piece is seen.

And on how often the model itself predicts it.
"""

import xarray as xr

from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import examples, number, several, spread, strongest
from headscope.statistics.significance import RATE, corrected, q_changed

NAMED = 3
FREQUENT, PREDICTED = "Rare and frequent pieces", "Pieces by how often the model predicts them"
WHY = "A correlation does not say why"


def by_frequency(numbers: Numbers) -> Finding:
    """The mean of the heads for each class of frequency, and how many heads look at rare or at frequent pieces."""
    ranks, where = numbers.array("frequency_correlation"), numbers.words.get("frequency_list")
    fixed = (
        "Classes are those of the list, whatever the sample; tokens whose piece it lacks are in none."
        if where
        else "Classes are those of this corpus: another sample has others, which the intervals do not allow for; "
        "--frequency-list takes them from a list."
    )
    return Finding(
        FREQUENT,
        f"As a multiple of uniform attention, the average head gives a token by the frequency of its piece in "
        f"{where or 'the corpus'}: {by_class(numbers, 'frequency')}. Not counted are special tokens, '.' and ','. "
        f"Below 1 the rest goes to these.{directions(ranks, 'frequency')} {WHY}: rare pieces also are nouns, names and "
        f"parts of words, frequent ones function words. {fixed}{examples(ranks)}",
    )


def by_predictions(numbers: Numbers) -> Finding:
    """The same by how often the model predicts a piece; or why it is not measured."""
    if reason := numbers.result.attrs.get("not_measured"):
        return Finding(PREDICTED, f"Not measured: {reason}.")
    means, ranks = by_class(numbers, "predicted"), numbers.result["predicted_correlation"]
    predictions = several(int(numbers.result.attrs["predictions"]), "prediction")
    if bool(ranks.isnull().all()):
        text = f"Not measured: in {predictions}, the pieces of a text are predicted equally often."
        return Finding(PREDICTED, text)
    ranks = numbers.array("predicted_correlation")
    return Finding(
        PREDICTED,
        f"As a multiple of uniform attention, the average head gives a token by how often the model predicts its "
        f"piece, in {predictions}: {means}.{directions(ranks, 'the number of predictions')} {WHY}; '{FREQUENT}' has "
        f"the same by the corpus.{examples(ranks)}",
    )


def by_class(numbers: Numbers, kind: str) -> str:
    """The mean over the heads for each class of pieces, with the least number of times of its pieces.

    * `kind`: "frequency" in the corpus, or "predicted".
    """
    texts = []
    for name in numbers.labels(f"{kind}_attention", "frequency"):
        mean = float(numbers.array(f"{kind}_attention", frequency=name).mean())
        least = int(numbers(f"{kind}_least", frequency=name).value)
        times = f" ({several(least, 'time')} or more)" if least else ""
        texts.append(f"{name.replace('_', ' ')}{times} {number(mean)}")
    return ", ".join(texts)


def directions(ranks: xr.DataArray, what: str) -> str:
    """How many heads look at rare and at frequent pieces beyond chance, and the clearest of each.

    * `what`: what attention is correlated with.
    """
    q = q_changed(ranks)
    text = f" The rank correlation of attention with {what} is {spread(ranks)}."
    if q is None:
        return text
    rare, frequent = (_sure(ranks, q, sign) for sign in (-1, 1))
    directions = f"Heads that look more at rare pieces: {rare}; more at frequent ones: {frequent}"
    return f"{text} {directions} ({corrected(q, 'heads')})."


def _sure(ranks: xr.DataArray, q: xr.DataArray, sign: int) -> str:
    """The number of heads with a correlation of this sign beyond chance, and those that are farthest from 0."""
    heads = (q < RATE) & (sign * ranks > 0)
    first = strongest(abs(ranks).where(heads).fillna(-1))[: min(NAMED, int(heads.sum()))]
    names = ", ".join(f"{reading.head} ({number(sign * reading.value)})" for reading in first)
    return f"{int(heads.sum())} of {int(ranks.notnull().sum())}{names and f', most {names}'}"
