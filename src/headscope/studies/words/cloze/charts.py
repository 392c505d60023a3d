"""Charts of `cloze`: accuracy by phenomenon beside chance, baselines and controls, a chart a suite."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.dot_rows import dot_rows
from headscope.figures.labels import label
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure
from headscope.results import in_series
from headscope.studies.words.cloze.tables import SERIES, suites

# More rows are no picture.
MOST_ROWS = 45
CAPTION = "Share of items whose good text scores higher, with 95% intervals over items or texts; the line is chance."
STAYING = "Share of items whose best text stays with changed texts: an accuracy may stay while predictions do not."
IN_VOCABULARY = "The most frequent answer is chosen on the other half of the items; intervals are of precision at 1."
BY_PIECES = "Accuracy of answers in gaps by their number of pieces; the interval is of answers of one piece."
FACTS = {
    "first of the vocabulary": "accuracy",
    "most frequent answer": "accuracy_of_most_frequent",
    "first of the answers": "accuracy_among_answers",
    "among the first ten": "precision_at_10",
    "filled from the left": "accuracy_of_fill",
}


def phenomena(numbers: Numbers) -> Iterator[Figure]:
    """The accuracy of the model, chance, baselines and controls in each phenomenon."""
    accuracy, chance = numbers.array("accuracy"), numbers.array("chance")
    series = {"model": accuracy, "chance": chance.assign_coords(lower=chance, upper=chance)}
    for dim in ("baseline", "control"):
        series |= _series(numbers, f"accuracy_{dim}", dim)
    array = in_series(series).assign_attrs(accuracy.attrs)
    return _rows(numbers, "accuracy", "Accuracy by phenomenon", array, "Accuracy by phenomenon", CAPTION)


def _series(numbers: Numbers, name: str, dim: str) -> dict[str, xr.DataArray]:
    """The arrays of a number by baseline or control, in words; none where the result lacks the number."""
    if name not in numbers.result:
        return {}
    both = numbers.array(name)
    return {SERIES[label]: both.sel({dim: label}, drop=True) for label in both[dim].values.tolist()}


def staying(numbers: Numbers) -> Iterator[Figure]:
    """The share of predictions that stay in each phenomenon."""
    array = numbers.array("prediction_kept").drop_vars("n_examples", errors="ignore")
    array = array.assign_coords(control=[SERIES[name] for name in array["control"].values.tolist()])
    return _rows(numbers, "kept", "Predictions that stay", array, "Predictions that stay", STAYING)


def facts(numbers: Numbers) -> Iterator[Figure]:
    """Answers of each phenomenon: first of the vocabulary, beside the most frequent answer, and further shares."""
    there = numbers.array("accuracy_of_most_frequent").reset_coords(drop=True).notnull()
    series = {words: numbers.array(name).where(there) for words, name in FACTS.items() if name in numbers.result}
    array = in_series(series).assign_attrs(numbers.result["accuracy"].attrs)
    return _rows(numbers, "facts", "Answers in the vocabulary", array, "Answers", IN_VOCABULARY)


def _rows(numbers: Numbers, stem: str, section: str, array: xr.DataArray, title: str, caption: str) -> Iterator[Figure]:
    """Rows of the phenomena of each suite, the first ones where there are many."""
    array = array.transpose("phenomenon", ...)
    for suite, phenomena in suites(numbers).items():
        part = array.sel(phenomenon=phenomena).dropna("phenomenon", how="all")
        count = part.sizes["phenomenon"]
        more = f" The first {MOST_ROWS} of {count} phenomena." if count > MOST_ROWS else ""
        if count:
            part = part[:MOST_ROWS].assign_attrs(array.attrs | {"long_name": f"{title}: {label('suite', suite)}"})
            yield Figure(f"{stem}-{suite}", section, dot_rows(part), f"{caption}{more}", str(array.name))


def pieces(numbers: Numbers) -> Iterator[Figure]:
    """Accuracy by the number of pieces, where a suite has answers of several."""
    array = numbers.array("accuracy_by_pieces").drop_vars("n_examples", errors="ignore")
    array = array.dropna("suite", how="all").dropna("pieces", how="all")
    if array.sizes["pieces"] > 1:
        yield Figure("pieces", "Number of pieces", dot_rows(array), BY_PIECES, "accuracy_by_pieces")


def conditions(numbers: Numbers) -> Iterator[Figure]:
    """Rows of the conditions of each suite that has several, the model beside baselines."""
    accuracy = numbers.array("accuracy_by_condition").dropna("condition")
    series = {"model": accuracy, **_series(numbers, "baseline_by_condition", "baseline")}
    array = in_series(series).sel(condition=accuracy["condition"]).assign_attrs(accuracy.attrs)
    for suite, phenomena in suites(numbers).items():
        labels = [name for name in array["condition"].values.tolist() if name.partition(": ")[0] in phenomena]
        if len(labels) > 1:
            part = array.sel(condition=labels[:MOST_ROWS])
            part = part.assign_attrs(array.attrs | {"long_name": f"Accuracy by condition: {label('suite', suite)}"})
            yield Figure(f"conditions-{suite}", "Conditions", dot_rows(part), CAPTION, "accuracy_by_condition")
