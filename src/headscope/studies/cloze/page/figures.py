"""Figures of `cloze`: accuracy by phenomenon beside chance, baselines and controls, a figure a suite."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.figures.dot_rows import dot_rows
from headscope.report.parts import Figure
from headscope.studies.cloze.page.tables import CONTROLS, SERIES, suites

ACCURACY, CONDITIONS = "Accuracy by phenomenon", "Conditions"
CAPTION = "Share of items whose good text scores higher, with 95% intervals over items; the stroke is chance."
# More rows are no picture.
MOST_ROWS = 45


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    return [*_phenomena(result), *_conditions(result)]


def _phenomena(result: xr.Dataset) -> Iterator[Figure]:
    """Rows of the phenomena of each suite, the first ones where there are many."""
    for suite, names in suites(result).items():
        if names:
            array = _series(result).sel(phenomenon=names[:MOST_ROWS])
            more = f" The first {MOST_ROWS} of {len(names)} phenomena." if len(names) > MOST_ROWS else ""
            array = array.assign_attrs(array.attrs | {"long_name": f"Accuracy by phenomenon: {suite}"})
            yield Figure(f"accuracy-{suite}", ACCURACY, dot_rows(array), f"{CAPTION}{more}", "accuracy")


def _series(result: xr.Dataset) -> xr.DataArray:
    """The accuracy of the model, chance, baselines and controls."""
    own = with_interval(result, "accuracy")
    chance = result["chance"].assign_coords({bound: result["chance"] for bound in ("lower", "upper")})
    series = {"model": own.drop_vars("n_examples", errors="ignore"), "chance": chance}
    for dim, words in (("baseline", SERIES), ("control", CONTROLS)):
        if f"accuracy_{dim}" in result:
            both = with_interval(result, f"accuracy_{dim}").drop_vars("n_examples", errors="ignore")
            series |= {words.get(str(name), str(name)): both.sel({dim: name}, drop=True) for name in both[dim].values}
    parts = [_bounded(part) for part in series.values()]
    array = xr.concat(parts, "series", coords="different", compat="equals")
    return (
        array.assign_coords(series=list(series))
        .transpose("phenomenon", "series")
        .rename("accuracy")
        .assign_attrs(own.attrs)
    )


def _bounded(array: xr.DataArray) -> xr.DataArray:
    """The array with an interval; one without has no bounds."""
    return array.assign_coords({bound: array * np.nan for bound in ("lower", "upper") if bound not in array.coords})


def _conditions(result: xr.Dataset) -> Iterator[Figure]:
    """Rows of the conditions of each phenomenon that has several."""
    if "accuracy_by_condition" not in result:
        return
    accuracy = with_interval(result, "accuracy_by_condition").drop_vars("n_examples", errors="ignore")
    labels = [str(label) for label in accuracy.dropna("condition")["condition"].values]
    for suite, names in suites(result).items():
        own = [label for label in labels if label.partition(": ")[0] in names][:MOST_ROWS]
        if len(own) > 1:
            array = accuracy.sel(condition=own).expand_dims(series=["model"], axis=1)
            array = array.assign_attrs(accuracy.attrs | {"long_name": f"Accuracy by condition: {suite}"})
            yield Figure(f"conditions-{suite}", CONDITIONS, dot_rows(array), CAPTION, "accuracy_by_condition")
