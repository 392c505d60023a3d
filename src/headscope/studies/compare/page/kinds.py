"""Heads whose attention differs clearly from that of the first model."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.kinds import where_true
from headscope.report.parts import HeadKind
from headscope.studies.compare.page.change import LIKE


def kinds(result: xr.Dataset) -> Iterator[HeadKind]:
    """A cosine similarity below 0.9, in any of the later models."""
    if "similarity" in result:
        yield from where_true((result["similarity"] < LIKE).any("model"), "changed", "changed")
