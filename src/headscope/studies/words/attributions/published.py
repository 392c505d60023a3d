"""Correlations with blank-out of Abnar and Zuidema (2020), layer by layer, beside those of a result."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.published import PublishedFigure
from headscope.report.wording import estimate

SOURCE = "Abnar and Zuidema 2020"
CAPTION = (
    "Rank correlation of importance with blank-out. The paper's model inflects a verb and has 6 layers; its target is "
    "the verb, that of this model another. Models of 6 layers have all rows, others the first and the last layer."
)
MODEL = "Model of verb number"
PAPER = {
    "attention": (0.69, 0.10, -0.11, -0.09, 0.20, 0.29),
    "rollout": (0.32, 0.38, 0.51, 0.62, 0.70, 0.71),
    "flow": (0.32, 0.44, 0.70, 0.70, 0.71, 0.70),
}


def figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """Attention, rollout and flow at the layers that the two models have in common."""
    layers = result["layer"].values.tolist()
    for method, values in PAPER.items():
        for layer, paper in zip(layers, _beside(values, len(layers)), strict=True):
            here = estimate(result, "rank_correlation", attribution=method, layer=layer)
            if np.isfinite(here.value) and np.isfinite(paper):
                yield PublishedFigure((f"{method}, layer {layer}",), here.cell(".2f"), f"{paper:.2f}", SOURCE, "P")


def _beside(values: tuple[float, ...], layers: int) -> list[float]:
    """The published value beside each layer of a model; NaN where there is none."""
    if layers == len(values):
        return [*values]
    return [values[0], *[float("nan")] * (layers - 2), values[-1]] if layers > 1 else [float("nan")]
