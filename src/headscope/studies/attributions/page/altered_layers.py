"""What alterations of the attention of one layer alone change: a figure, a table and numbers of layers."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import matrix
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import measured, of_array
from headscope.studies.attributions.page.altered_attention import NAMES, SECTION

NAME = "layer_altered_output"


def figures(result: xr.Dataset) -> Iterator[Figure]:
    """The change of the output by alteration and layer."""
    array = _changes(result)
    if array is not None:
        named = array.assign_coords(alteration=[NAMES[name] for name in array["alteration"].values.tolist()])
        caption = "Change of the output with the attention of one layer alone altered, mean over inputs."
        chart = matrix(named.drop_vars("n_examples", errors="ignore").rename("altered"), side=300)
        yield Figure(NAME, SECTION, chart, caption, NAME)


def tables(result: xr.Dataset) -> list[Table]:
    """A row for each alteration, a column for each layer; none where no attention was altered."""
    array = _changes(result)
    if array is None:
        return []
    layers = array["layer"].values.tolist()
    rows: list[tuple[str, Cells]] = [
        (NAMES[name], [of_array(array.sel(alteration=name, layer=layer)).known_cell() for layer in layers])
        for name in array["alteration"].values.tolist()
    ]
    caption = (
        f"Change of the output ({result.attrs.get('distance', '')}) with the attention of one layer alone altered, "
        "with 95% intervals."
    )
    return [titled("altered_layers", caption, "Attention", [f"Layer {layer}" for layer in layers], rows)]


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """How much outputs depend on where the heads of a layer attend to."""
    array = _changes(result)
    if array is None:
        return
    for name in ("permuted", "largest_10"):
        if name in array["alteration"].values:
            words, own = f"change of the output, attention {NAMES[name]}", array.sel(alteration=name, drop=True)
            yield LayerNumber("Altered attention", words, own, is_share=False, is_needed=True)


def _changes(result: xr.Dataset) -> xr.DataArray | None:
    """The change by alteration and layer, without alterations that are of all layers alone."""
    array = measured(result, NAME)
    return None if array is None else array.dropna("alteration", how="all")
