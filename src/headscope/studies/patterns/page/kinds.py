"""Heads whose maps mostly have one pattern."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.kinds import COLOURS, where_true
from headscope.report.parts import HeadKind
from headscope.studies.patterns.page.figures import over_corpora

HALF = 0.5


def kinds(result: xr.Dataset) -> Iterator[HeadKind]:
    """A pattern in more than half of the maps of a head; heterogeneous maps have none."""
    share = over_corpora(result, "share")
    for pattern in share["pattern"].values.tolist():
        if pattern in COLOURS:
            yield from where_true(share.sel(pattern=pattern) > HALF, pattern, label("pattern", pattern))
