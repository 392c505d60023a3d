"""Findings about rare and frequent pieces: what of the attention to text depends on how often a piece is seen."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, number, several, spread, strongest
from headscope.statistics.interval_tests import corrected, q_changed
from headscope.statistics.significance import RATE

NAMED = 3


def by_frequency(result: xr.Dataset) -> Iterator[Finding]:
    """The mean of the heads for each class of frequency, and how many heads look at rare or at frequent pieces."""
    array, ranks = measured(result, "frequency_attention"), measured(result, "frequency_correlation")
    if array is None or ranks is None:
        return
    means = array.mean(("layer", "head"))
    classes = ", ".join(_of_class(result, one) for one in means if bool(one.notnull()))
    yield Finding(
        "Rare and frequent pieces",
        f"As a multiple of uniform attention, the average head gives a token by the frequency of its piece in the "
        f"corpus: {classes}. Not counted are special tokens, '.' and ','. Below 1 the rest goes to these."
        f"{_directions(ranks)} A correlation does not say why: rare pieces also are nouns, names and parts of words, "
        f"frequent ones function words.{examples(ranks)}",
    )


def _of_class(result: xr.Dataset, mean: xr.DataArray) -> str:
    name = str(mean["frequency"].item())
    least = int(result["frequency_least"].sel(frequency=name)) if "frequency_least" in result else 0
    times = f" ({several(least, 'time')} or more)" if least else ""
    return f"{name.replace('_', ' ')}{times} {number(float(mean))}"


def _directions(ranks: xr.DataArray) -> str:
    """How many heads look at rare and at frequent pieces beyond chance, and the clearest of each."""
    q = q_changed(ranks)
    text = f" The rank correlation of attention with frequency is {spread(ranks)}."
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
