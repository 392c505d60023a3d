"""What attention to each class of token is worth, layer by layer, beside how much of it there is."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Column, Table
from headscope.report.wording import number

CLASSES = ("cls", "sep", "punct", "other")


def tables(result: xr.Dataset) -> list[Table]:
    """One line for each layer."""
    known = [name for name in CLASSES if bool(result["gradient"].sel(token_class=name).notnull().any())]
    columns = [
        Column(f"{kind}-{name}", f"{label('token_class', name)}: {kind}")
        for name in known
        for kind in ("attention", "gradient", "relative")
        if (name, kind) != ("other", "relative")
    ]
    caption = (
        "Means over the heads of a layer: attention to each class of token, the size of the gradient of the loss by "
        "it, and that relative to other tokens."
    )
    rows = [((layer,), _cells(result.sel(layer=layer), known)) for layer in result["layer"].values.tolist()]
    return [Table("worth", caption, "", "", ("Layer",), tuple(columns), rows)]


def _cells(layer: xr.Dataset, known: list[str]) -> list[tuple[str, str] | None]:
    cells: list[tuple[str, str] | None] = []
    for name in known:
        part = layer.sel(token_class=name)
        cells += [(number(float(part[each].mean("head"))), "") for each in ("attention_to", "gradient")]
        if name != "other":
            lower, upper = part["relative_gradient_ci"].values.tolist()
            cells.append((number(float(part["relative_gradient"])), f"{number(lower)}, {number(upper)}"))
    return cells
