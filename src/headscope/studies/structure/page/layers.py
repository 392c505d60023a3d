"""The scores of the structural probe in every layer, and its trees of a few sentences."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import Figure, LayerNumber
from headscope.studies.structure.page.figures import trees
from headscope.studies.structure.page.summary import NAMES, SHARES


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """All scores; held-out training sentences choose the layer."""
    for name, words in NAMES.items():
        array, chosen = with_interval(result, name), int(result.attrs["chosen_layer"])
        yield LayerNumber("Trees by a linear map", words, array, chosen, name in SHARES)


def pictures(result: xr.Dataset) -> Iterator[Figure]:
    """Gold and predicted trees of a few sentences."""
    return trees(result)
