"""The change of the score without the heads of each layer."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.parts import LayerNumber
from headscope.report.wording import measured


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """The gain in the main metric with all heads of a layer disabled, negative where the score needs them."""
    metric = str(result["metric"].values[0])
    array = measured(result, "layer_gain", metric=metric)
    if array is not None:
        task = result.attrs.get("task", result.attrs["corpus"])
        words = f"{label('metric', metric)} on {task}, gain without the layer"
        yield LayerNumber("Layers that a task needs", words, array.drop_vars("metric", errors="ignore"), is_share=False)
