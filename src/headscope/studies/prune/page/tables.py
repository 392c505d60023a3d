"""Score and size of the model at each share of removed heads."""

import xarray as xr

from headscope.figures.labels import label
from headscope.report.published import published_table
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number
from headscope.studies.prune.page.published import CAPTION, figures

BY_LAYER = ()


def tables(result: xr.Dataset) -> list[Table]:
    """A row for each share of removed heads: change of the main metric, size of the model; then published figures."""
    metrics, shares = result["metric"].values.tolist(), result["share_removed"].values.tolist()
    first, *further = [label("metric", metric).capitalize() for metric in metrics]
    titles = ["Heads", first, "Change", "95% interval", *further, "MB", "M mult."]
    caption = (
        "Score and size at each share of removed heads. Change: from the whole model, with its interval. "
        "M mult.: millions of multiplications for a token."
    )
    rows = [(f"{share:.0%}", _cells(result, share, metrics)) for share in shares]
    own = titled("shares", caption, "Removed", titles, rows)
    return [own, *published_table(figures(result), CAPTION)]


def _cells(result: xr.Dataset, share: float, metrics: list[str]) -> Cells:
    scores = [estimate(result, "pruned_score", share_removed=share, metric=metric) for metric in metrics]
    change, interval = estimate(result, "score_change", share_removed=share, metric=metrics[0]).cell("+.3f")
    sizes = {"megabytes": 1.0, "multiplications": 1e6}
    first, *further = [(number(score.value, ".3f"), "") for score in scores]
    return [
        (str(int(result["heads_left"].sel(share_removed=share).sum())), ""),
        first,
        (change, ""),
        (interval, ""),
        *further,
        *(
            (number(float(result[name].sel(share_removed=share)) / unit, ".1f"), "") if name in result else None
            for name, unit in sizes.items()
        ),
    ]
