"""Predictions that stay when examples are changed, as a finding and a figure."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.dot_rows import dot_rows
from headscope.report.parts import Figure, Finding
from headscope.report.wording import estimate

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


def findings(result: xr.Dataset) -> Iterator[Finding]:
    """The share of predictions that stay with each change, the least first."""
    if "prediction_kept" in result:
        names = result["prediction_kept"].sortby(result["prediction_kept"])["perturbation"].values.tolist()
        texts = [
            f"{name} {estimate(result, 'prediction_kept', perturbation=name).percent} "
            f"(n = {int(result['prediction_kept_n_examples'].sel(perturbation=name)):,}, by chance "
            f"{float(result['kept_by_chance'].sel(perturbation=name)):.1%})"
            for name in names
        ]
        yield Finding(SECTION, f"With changed examples: {'; '.join(texts)}.")


def figures(result: xr.Dataset) -> Iterator[Figure]:
    """A row for each change."""
    if "prediction_kept" in result:
        kept = with_interval(result, "prediction_kept").drop_vars("n_examples", errors="ignore")
        others = [result[name] for name in list(SERIES)[1:]]
        without = [
            array.assign_coords({bound: array * float("nan") for bound in ("lower", "upper")}) for array in others
        ]
        parts = [kept, *without]
        array = xr.concat([part.rename("share") for part in parts], "series", coords="different", compat="equals")
        array = array.assign_coords(series=list(SERIES.values())).transpose("perturbation", "series")
        attrs = result["prediction_kept"].attrs | {"long_name": SECTION}
        yield Figure("perturbed", SECTION, dot_rows(array.assign_attrs(attrs)), CAPTION, "prediction_kept")
