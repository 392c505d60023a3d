"""The faithfulness of each method in every layer, and a few inputs with their tokens coloured."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import Figure, LayerNumber
from headscope.studies.attributions.page.figures import inputs
from headscope.studies.attributions.page.summary import NAMES, chosen


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """Faithfulness, the fall of the target beyond random orders; one half of the inputs chooses the layer."""
    for each in chosen(result):
        array = with_interval(result, "comprehensiveness_gain").sel(attribution=each.method, drop=True)
        yield LayerNumber("Faithfulness of attributions", NAMES[each.method], array, each.layer, is_share=False)


def pictures(result: xr.Dataset) -> Iterator[Figure]:
    """Inputs whose tokens are coloured by each method."""
    return inputs(result)
