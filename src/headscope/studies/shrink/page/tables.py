"""The steps of the search as a table."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number
from headscope.studies.shrink.page.findings import facts

BY_LAYER = ()


def tables(result: xr.Dataset) -> list[Table]:
    """A row for each step: the part, what it cost, and the score, the speed and the size after it."""
    metric = str(result["metric"].values[0])
    titles = ["Part", label("metric", metric).capitalize(), "95% interval", "Cost", "Estimated", "Speed", "MB"]
    caption = (
        "Steps of the search. Cost: what the step adds to the change of the outputs; estimated: by the part alone. "
        "Speed: times the whole model, as expected; before the training."
    )
    speeds = facts(result)["speeds"]
    rows = [(str(step), _cells(result, step, metric, speeds[step])) for step in result["step"].values.tolist()]
    return [titled("steps", caption, "Step", titles, rows)]


def _cells(result: xr.Dataset, step: int, metric: str, speed: float) -> Cells:
    score, interval = estimate(result, "path_score", step=step, metric=metric).cell(".3f")
    return [
        (str(result["part"].sel(step=step).item()), ""),
        (score, ""),
        (interval, ""),
        *(estimate(result, name, step=step).known_cell(".3f") for name in ("exact_change", "estimated_change")),
        (number(speed, ".2f"), ""),
        estimate(result, "megabytes", step=step).known_cell(".1f"),
    ]
