"""Predictions that stay when examples are changed, as a finding and a figure."""

import xarray as xr

from headscope.figures.dot_rows import dot_rows
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding

SECTION = "Predictions that stay"
SERIES = {
    "prediction_kept": "predictions that stay",
    "kept_by_chance": "by chance",
    "perturbed_score": "accuracy",
}
CAPTION = (
    "Share of predictions that stay when examples are changed, with 95% intervals over examples; the stroke is the "
    "share that would stay if the predictions were in random order. The accuracy on the changed examples may stay "
    "where predictions do not."
)


def predictions_kept(numbers: Numbers) -> Finding:
    """The share of predictions that stay with each change, the least first."""
    shares = numbers.array("prediction_kept")
    texts = [
        f"{name} {numbers('prediction_kept', perturbation=name):%} "
        f"(n = {numbers.n('prediction_kept', perturbation=name):,}, by chance "
        f"{numbers('kept_by_chance', perturbation=name).value:.1%})"
        for name in shares.sortby(shares)["perturbation"].values.tolist()
    ]
    return Finding(SECTION, f"With changed examples: {'; '.join(texts)}.")


def kept_chart(numbers: Numbers) -> Figure:
    """A row for each change."""
    kept = numbers.array("prediction_kept").drop_vars("n_examples", errors="ignore")
    others = [numbers.result[name] for name in list(SERIES)[1:]]
    without = [array.assign_coords({bound: array * float("nan") for bound in ("lower", "upper")}) for array in others]
    parts = [part.rename("share") for part in (kept, *without)]
    array = xr.concat(parts, "series", coords="different", compat="equals")
    array = array.assign_coords(series=list(SERIES.values())).transpose("perturbation", "series")
    attrs = numbers.result["prediction_kept"].attrs | {"long_name": SECTION}
    return Figure("perturbed", SECTION, dot_rows(array.assign_attrs(attrs)), CAPTION, "prediction_kept")
