"""Heads that attend to a neighbour, to themselves, to a class of tokens, or broadly."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.kinds import at_least
from headscope.report.parts import HeadKind

SHARE, NEAR_UNIFORM = 0.4, 0.9
NEIGHBOURS = {-1: "previous", 1: "next", 0: "itself"}
CLASSES = {"cls": "[CLS]", "sep": "[SEP]", "punct": "punctuation"}


def kinds(result: xr.Dataset) -> Iterator[HeadKind]:
    """Shares of attention of 0.4 or more, and an entropy of 0.9 of that of uniform attention or more."""
    for offset, word in NEIGHBOURS.items():
        yield from at_least(result["attention_offset"].sel(offset=offset), SHARE, word, word)
    for token_class, word in CLASSES.items():
        yield from at_least(result["attention_to"].sel(token_class=token_class), SHARE, token_class, word)
    if "uniform_entropy" in result:
        yield from at_least(result["entropy"], NEAR_UNIFORM * float(result["uniform_entropy"]), "broad", "broad")
