"""Findings about where attention goes when there is nothing to do: by part of speech, and to the end of a segment."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import (
    agree,
    examples,
    listed,
    measured,
    number,
    several,
    spread,
    strongest,
)
from headscope.statistics.interval_tests import q_above, surely
from headscope.statistics.significance import LEAST_CASES

HALF = 0.5


def by_part_of_speech(result: xr.Dataset) -> Iterator[Finding]:
    """How much of their attention words of each part of speech give special tokens."""
    array = measured(result, "sink_by_part_of_speech")
    if array is None:
        return
    frequent = array.sel(part_of_speech=array["n_examples"] >= LEAST_CASES).dropna("part_of_speech", how="all")
    if frequent.sizes["part_of_speech"] < 2:
        return
    means = frequent.mean(("layer", "head")).sortby(frequent.mean(("layer", "head")), ascending=False)
    texts = ", ".join(f"{one['part_of_speech'].item()} {number(float(one))}" for one in means)
    apart = frequent.max("part_of_speech") - frequent.min("part_of_speech")
    yield Finding(
        "Special tokens by part of speech",
        f"The average head gives special tokens, from words of each part of speech: {texts}. Heads differ by part of "
        f"speech by {spread(apart)}. A head whose function does not apply to a word may look there. Parts of speech "
        f"with at least {LEAST_CASES} examples.",
    )


def segment_end(result: xr.Dataset) -> Iterator[Finding]:
    """The heads that look at the last token of a segment."""
    array = measured(result, "segment_end")
    if array is None:
        return
    q = q_above(array, HALF)
    heads = strongest(array.where(array > HALF).fillna(-1))
    above = [reading for reading in heads if reading.value > HALF]
    sure = surely(q, "heads", array > HALF)
    yield Finding(
        "End of a segment",
        f"{several(len(above), 'head')} {agree(len(above), 'gives', 'give')} the last token of a segment, often its "
        f"final punctuation, more than half of the attention{f': {listed(above)}' if above else ''}"
        f"{f'; {sure}' if sure else ''}. Heads give it {spread(array)}.{examples(array)}",
    )
