"""Tables of a film: how much each layer had changed at each step."""

import xarray as xr

from headscope.report.tables import Table, titled
from headscope.report.wording import of_array
from headscope.studies.film.page.findings import change

# The terminal has the table; other variables have too many steps for it.
BY_LAYER = ("half_change",)


def tables(result: xr.Dataset) -> list[Table]:
    """A row for each layer, a column for each step after the start."""
    changes = change(result, "step_layer_similarity")
    if changes is None:
        return []
    later = changes.isel(step=slice(1, None))
    titles = [f"Step {step}" for step in later["step"].values.tolist()]
    rows = [
        (int(part["layer"]), [of_array(cell).known_cell(".3f") for cell in part.transpose("step")])
        for part in later.transpose("layer", "step")
    ]
    caption = "Change of the attention of each layer since the start: 1 minus the cosine, mean over its heads."
    return [titled("change", caption, "Layer", titles, rows)]
