"""Findings about rare and frequent pieces: what of the attention to text depends on how often a piece is seen.

And on how often the model itself predicts it.
"""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, number, several, spread, strongest
from headscope.statistics.interval_tests import corrected, q_changed
from headscope.statistics.significance import RATE

NAMED = 3
FREQUENT, PREDICTED = "Rare and frequent pieces", "Pieces by how often the model predicts them"


def by_frequency(result: xr.Dataset) -> Iterator[Finding]:
    """The mean of the heads for each class of frequency, and how many heads look at rare or at frequent pieces."""
    array, ranks = measured(result, "frequency_attention"), measured(result, "frequency_correlation")
    if array is None or ranks is None:
        return
    yield Finding(
        FREQUENT,
        f"As a multiple of uniform attention, the average head gives a token by the frequency of its piece in the "
        f"corpus: {_classes(result, array, 'frequency_least')}. Not counted are special tokens, '.' and ','. Below 1 "
        f"the rest goes to these.{_directions(ranks, 'frequency')} A correlation does not say why: rare pieces also "
        f"are nouns, names and parts of words, frequent ones function words. Classes are those of this corpus: another "
        f"sample has others, which the intervals do not allow for.{examples(ranks)}",
    )


def by_predictions(result: xr.Dataset) -> Iterator[Finding]:
    """The same by how often the model predicts a piece; or why it is not measured."""
    array, ranks = measured(result, "predicted_attention"), measured(result, "predicted_correlation")
    if reason := result.attrs.get("not_measured"):
        yield Finding(PREDICTED, f"Not measured: {reason}.")
    if array is None:
        return
    made = several(int(result.attrs["predictions"]), "prediction")
    if ranks is None:
        yield Finding(PREDICTED, f"Not measured: in {made}, the pieces of a text are predicted equally often.")
        return
    yield Finding(
        PREDICTED,
        f"As a multiple of uniform attention, the average head gives a token by how often the model predicts its "
        f"piece, in {made}: "
        f"{_classes(result, array, 'predicted_least')}.{_directions(ranks, 'the number of predictions')} A "
        f"correlation does not say why; '{FREQUENT}' has the same by the corpus.{examples(ranks)}",
    )


def _classes(result: xr.Dataset, array: xr.DataArray, least: str) -> str:
    means = array.mean(("layer", "head"))
    return ", ".join(_of_class(result, one, least) for one in means if bool(one.notnull()))


def _of_class(result: xr.Dataset, mean: xr.DataArray, smallest: str) -> str:
    name = str(mean["frequency"].item())
    least = int(result[smallest].sel(frequency=name)) if smallest in result else 0
    times = f" ({several(least, 'time')} or more)" if least else ""
    return f"{name.replace('_', ' ')}{times} {number(float(mean))}"


def _directions(ranks: xr.DataArray, what: str) -> str:
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
    names = ", ".join(f"{one.head} ({number(sign * one.value)})" for one in first)
    return f"{int(heads.sum())} of {int(ranks.notnull().sum())}{names and f', most {names}'}"
