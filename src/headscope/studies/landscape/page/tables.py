"""The widths of all models."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Column, Table
from headscope.report.wording import estimate


def tables(result: xr.Dataset) -> list[Table]:
    """A row for each model: its width, and the loss at both ends of its line."""
    if "width" not in result or "line_loss" not in result:
        return []
    rows = []
    for init in result["init"].values.tolist():
        loss = result["line_loss"].sel(init=init)
        ends = [
            estimate(result, "line_loss", init=init, position=_nearest(loss, end)).known_cell(".3f") for end in (0, 1)
        ]
        if width := estimate(result, "width", init=init).known_cell(".3f"):
            rows.append(((label("init", init),), [width, *ends]))
    columns = (Column("width", "Width"), Column("start", "Loss at the start"), Column("end", "Loss at the end"))
    caption = "Width in lengths of the filters, with 95% intervals over directions; losses over examples."
    return [Table("widths", caption, ("Model",), columns, rows)]


def _nearest(loss: xr.DataArray, end: float) -> float:
    return float(loss["position"].sel(position=end, method="nearest"))
