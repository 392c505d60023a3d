"""Gradient by attention to each class of token, layer by layer, beside the attention."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.published import published_table
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import estimate, number
from headscope.studies.gradients.page.published import CAPTION, figures

CLASSES = ("cls", "sep", "punct", "other")


def tables(result: xr.Dataset) -> list[Table]:
    """One line for each layer, then published figures."""
    classes = [name for name in CLASSES if bool(result["gradient"].sel(token_class=name).notnull().any())]
    columns = [
        Column(f"{kind}-{name}", f"{label('token_class', name)}: {kind}")
        for name in classes
        for kind in ("attention", "gradient", "relative")
        if (name, kind) != ("other", "relative")
    ]
    caption = (
        "Means over the heads of a layer: attention to each class of token, the size of the gradient of the loss by "
        "this attention, and that size relative to other tokens."
    )
    rows = [((layer,), _cells(result.sel(layer=layer), classes)) for layer in result["layer"].values.tolist()]
    worth = Table("worth", caption, ("Layer",), tuple(columns), rows)
    return [worth, *published_table(figures(result), CAPTION)]


def _cells(layer: xr.Dataset, classes: list[str]) -> Cells:
    cells: Cells = []
    for name in classes:
        part = layer.sel(token_class=name)
        cells += [(number(float(part[variable].mean("head"))), "") for variable in ("attention_to", "gradient")]
        if name != "other":
            cells.append(estimate(part, "relative_gradient").cell())
    return cells
