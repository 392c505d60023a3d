"""Findings about pairs of segments (Kovaleva et al. 2019, 5), and about rare and frequent pieces.

Heads that look at the same word in the other segment; and what of the attention to text depends on how often a piece is
seen, and on how often the model itself predicts it.
"""

import xarray as xr

from headscope.report.claims import above
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import agree, examples, first_of, listed, n_examples, number, several, spread, strongest
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, corrected, q_above, q_changed

NAMED = 5
CLEAREST = 3
FREQUENT, PREDICTED = "Rare and frequent pieces", "Pieces by how often the model predicts them"
WHY = "A correlation does not say why"


def least_gain(numbers: Numbers) -> xr.DataArray:
    """Attention to copies minus the higher of the two baselines, [layer, head]."""
    gain = numbers.array("same_word_gain")
    least = gain.isel(baseline=gain.fillna(float("inf")).argmin("baseline"))
    return least.assign_coords(n_examples=gain["n_examples"].min("baseline"))


def q_of_gain(gain: xr.DataArray) -> xr.DataArray:
    """The false discovery rate at which each head gains on both baselines."""
    q = q_above(gain, 0.0)
    return xr.full_like(gain, 1.0) if q is None else q


def special(gain: xr.DataArray) -> xr.DataArray:
    """Mask of the heads that gain 0.1 or more on both baselines beyond chance, in at least 50 examples."""
    return (gain >= GAIN) & (q_of_gain(gain) < RATE) & (gain["n_examples"] >= LEAST_CASES)


def same_word(numbers: Numbers) -> Finding:
    """The head that gains most, and all that gain enough."""
    gain = least_gain(numbers)
    best, heads = strongest(gain)[0], strongest(gain.where(special(gain)))
    top = gain.isel(gain.fillna(-1).argmax(["layer", "head"]))
    head = {"layer": int(top["layer"]), "head": int(top["head"])}
    copies, apart, others = (
        number(numbers("same_word", word_pair=pair, **head).value) for pair in ("copies", "as_far_apart", "from_others")
    )
    names = first_of([reading.head for reading in heads if reading.value == reading.value], NAMED, ", ")
    count = int(special(gain).sum())
    return Finding.judged(
        above(best.estimate, 0.0, (n_examples(gain) or (0, 0))[0], q=float(q_of_gain(gain).sel(head)), least=GAIN),
        f"A word gives its copy in the other segment {copies} of its attention there; words at the same distance give "
        f"each other {apart}, and other words give the copy {others}. {several(count, 'head')} "
        f"{agree(count, 'gains', 'gain')} {GAIN} or more over both in at least {LEAST_CASES} examples "
        f"({corrected(q_of_gain(gain), 'heads')})"
        f"{f': {names}' if count else ''}.{examples(gain)}",
        holds=f"Head {best.head} looks at the same word in the other segment",
        fails="No head looks at the same word in the other segment",
        undecided="It cannot be told whether a head looks at the same word in the other segment",
        unit="pairs",
    )


def across(numbers: Numbers) -> Finding:
    """How much attention stays in a segment, and how much goes to the other one."""
    same, different = (numbers.array("segment_attention", segments=name) for name in ("same", "different"))
    heads = [reading for reading in strongest(different.where(different > same)) if reading.value == reading.value]
    more = f"{several(len(heads), 'head')} {agree(len(heads), 'gives', 'give')} the other segment more"
    return Finding(
        "Across segments",
        f"The average head gives the words of a word's own segment {number(float(same.mean()))} of its attention and "
        f"those of the other segment {number(float(different.mean()))}; the rest goes to special tokens. Heads give "
        f"the other segment {spread(different)}. {more}{f': {listed(heads)}' if heads else ''}.{examples(different)}",
    )


def by_frequency(numbers: Numbers) -> Finding:
    """The mean of the heads for each class of frequency, and how many heads look at rare or at frequent pieces."""
    ranks, where = numbers.array("frequency_correlation"), numbers.words.get("frequency_list")
    left = numbers.words.get("not_counted", "special tokens, '.' and ','")
    fixed = (
        "Classes are those of the list, whatever the sample; tokens whose piece it lacks are in none."
        if where
        else "Classes are those of this corpus: another sample has others, which the intervals do not allow for; "
        "--frequency-list takes them from a list."
    )
    return Finding(
        FREQUENT,
        f"As a multiple of uniform attention, the average head gives a token by the frequency of its piece in "
        f"{where or 'the corpus'}: {by_class(numbers, 'frequency')}. {left[:1].upper()}{left[1:]} are not counted; "
        f"what is missing goes to these.{directions(ranks, 'frequency')} {WHY}: rare pieces also are nouns, names and "
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
    """The mean over the heads for each class of pieces, with the smallest number of times of its pieces.

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
    first = strongest(abs(ranks).where(heads).fillna(-1))[: min(CLEAREST, int(heads.sum()))]
    names = ", ".join(f"{reading.head} ({number(sign * reading.value)})" for reading in first)
    return f"{int(heads.sum())} of {int(ranks.notnull().sum())}{names and f', most {names}'}"
