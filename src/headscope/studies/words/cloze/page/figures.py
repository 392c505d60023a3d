"""Figures of `cloze`: accuracy by phenomenon beside chance, baselines and controls, a figure a suite."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.figures.dot_rows import dot_rows
from headscope.report.parts import Figure
from headscope.studies.words.cloze.page.accuracies import CONTROLS, SERIES, suites

ACCURACY, CONDITIONS = "Accuracy by phenomenon", "Conditions"
STAY, FACTS, PIECES = "Predictions that stay", "Facts by relation", "Number of pieces"
STAYING = "Share of items whose best text stays with changed texts: an accuracy may stay while predictions do not."
OF_RELATIONS = "The most frequent answer is chosen on the other half of the facts; intervals are of precision at 1."
BY_PIECES = "Accuracy of answers in gaps by their number of pieces; the interval is of answers of one piece."
OF_FACTS = {
    "first of the vocabulary": "accuracy",
    "most frequent answer": "accuracy_of_most_frequent",
    "first of the answers": "accuracy_among_answers",
    "among the first ten": "precision_at_10",
    "filled from the left": "accuracy_of_fill",
}
CAPTION = "Share of items whose good text scores higher, with 95% intervals over items; the stroke is chance."
# More rows are no picture.
MOST_ROWS = 45


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    return [*_phenomena(result), *_kept(result), *_facts(result), *_pieces(result), *_conditions(result)]


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


def _kept(result: xr.Dataset) -> Iterator[Figure]:
    """The share of predictions that stay in each phenomenon, a figure a suite."""
    if "prediction_kept" not in result:
        return
    kept = with_interval(result, "prediction_kept").drop_vars("n_examples", errors="ignore")
    kept = kept.assign_coords(control=[CONTROLS.get(str(name), str(name)) for name in kept["control"].values])
    for suite, names in suites(result).items():
        array = kept.sel(phenomenon=names[:MOST_ROWS]).dropna("phenomenon", how="all")
        if array.size:
            array = array.assign_attrs(kept.attrs | {"long_name": f"Predictions that stay: {suite}"})
            yield Figure(f"kept-{suite}", STAY, dot_rows(array), STAYING, "prediction_kept")


def _facts(result: xr.Dataset) -> Iterator[Figure]:
    """Facts of each relation: first of the vocabulary, beside always the most frequent answer, and further shares."""
    known = {words: name for words, name in OF_FACTS.items() if name in result}
    if "accuracy_of_most_frequent" not in result:
        return
    parts = [_bounded(with_interval(result, name).drop_vars("n_examples", errors="ignore")) for name in known.values()]
    array = xr.concat([part.rename("accuracy") for part in parts], "series", coords="different", compat="equals")
    array = array.assign_coords(series=list(known)).transpose("phenomenon", "series")
    for suite, names in suites(result).items():
        ranked = [name for name in names if np.isfinite(result["accuracy_of_most_frequent"].sel(phenomenon=name))]
        if ranked:
            of_suite = array.sel(phenomenon=ranked[:MOST_ROWS])
            attrs = result["accuracy"].attrs | {"long_name": f"Facts: {suite}"}
            yield Figure(f"facts-{suite}", FACTS, dot_rows(of_suite.assign_attrs(attrs)), OF_RELATIONS, "accuracy")


def _pieces(result: xr.Dataset) -> Iterator[Figure]:
    """Accuracy by the number of pieces, where a suite has answers of several."""
    if "accuracy_by_pieces" in result:
        array = with_interval(result, "accuracy_by_pieces").drop_vars("n_examples", errors="ignore")
        several = array.dropna("suite", how="all").dropna("pieces", how="all")
        if several.sizes["pieces"] > 1:
            yield Figure("pieces", PIECES, dot_rows(several), BY_PIECES, "accuracy_by_pieces")


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
