"""Figures of the loss around trained models: along the lines, and over the planes."""

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.curve import curve
from headscope.figures.matrix import matrix
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.landscape.page.findings import START

LINE, PLANE = "Loss along the line", "Loss around the model"
ALONG = (
    "From the weights before the training (0) to those after it (1), and beyond; with 95% intervals over examples. Hao "
    "et al. (2019) draw it for BERT-large."
)


def figures(result: xr.Dataset) -> list[Figure]:
    """The lines of all models in one figure, and a plane of each, with one scale of colours."""
    made = []
    if measured(result, "line_loss") is not None:
        line = with_interval(result, "line_loss").dropna("position", how="all")
        made.append(Figure("line_loss", LINE, curve(line, "position"), ALONG, "line_loss"))
    if (planes := measured(result, "plane_loss")) is not None:
        for init in planes["init"].values.tolist():
            plane = planes.sel(init=init, drop=True)
            if plane.size > 1 and bool(plane.notnull().any()):
                caption = (
                    f"The model that was trained {START.get(init, init)} is in the middle; steps along two random "
                    "directions, in lengths of the filters, with the same axes for all models."
                )
                rounded = plane.assign_coords({dim: plane[dim].round(3) for dim in plane.dims})
                made.append(Figure(f"plane_loss-{init}", PLANE, matrix(rounded, side=300), caption, "plane_loss"))
    return made
