"""Trees from the mean attention of the heads of each layer."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import LayerNumber
from headscope.studies.trees.page.summary import arrow

PLACES = {
    "uas": {"root": "gold", "special_tokens": "left_out"},
    "uuas": {"root": "undirected", "special_tokens": "left_out"},
}


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """UAS from the gold root in both directions, and UUAS, which has none; no layer is chosen."""
    for name, place in PLACES.items():
        part = with_interval(result, f"layer_{name}").sel(place, drop=True)
        for direction in part["direction"].values.tolist() if name == "uas" else part["direction"].values.tolist()[:1]:
            array = part.sel(direction=direction, drop=True)
            words = f"UAS, {arrow(direction)}" if name == "uas" else "UUAS"
            if bool(array.notnull().any()):
                yield LayerNumber("Trees by mean attention", words, array)
