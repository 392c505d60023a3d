"""The tables of `cloze`: accuracies, predictions that stay, facts, pieces, and published figures beside them."""

from collections.abc import Iterator, Sequence
from typing import Any

import xarray as xr

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import estimate
from headscope.studies.words.cloze.page.accuracies import CONTROLS, SERIES, accuracies, suites
from headscope.studies.words.cloze.page.published import published

KEPT = (
    "Share of items whose best text stays with changed texts, and share of gaps whose right answer is more probable by "
    "more than 0.01, in per cent with 95% intervals over items."
)
FACTS = (
    "Facts in per cent, with 95% intervals. The most frequent answer and the best wording are chosen on the other half "
    "of the facts; filled answers may have several pieces, whose number the model is told."
)
PIECES = "Accuracy of answers in gaps by their number of pieces, in per cent with 95% intervals over items."
SUITES = (
    "Accuracy of each suite less that of baselines and of changed texts on the same items, and less that of always the "
    "most frequent answer; precision at 1 where the subject's name gives the answer away, and where it does not. In "
    "points and per cent, with 95% intervals."
)
OF_SUITES = {
    "baseline_gain": "More than {}",
    "control_fall": "More than {}",
    "answer_gain": "More than the most frequent answer",
    "accuracy_given_away": "Name gives it away",
    "accuracy_not_given_away": "Name does not",
}
OF_FACTS = {
    "accuracy": "First of the vocabulary",
    "precision_at_5": "Among 5",
    "precision_at_10": "Among 10",
    "accuracy_among_answers": "First of the answers",
    "accuracy_of_most_frequent": "Most frequent answer",
    "accuracy_of_fill": "Filled from the left",
    "accuracy_of_best_wording": "Best wording",
    "consistency": "Wordings agree",
    "right_in_all": "Right in all wordings",
}


def tables(result: xr.Dataset) -> list[Table]:
    """The tables that the result has numbers for, that of accuracies first."""
    others = (_kept(result), _facts(result), _by_suite(result), _by_pieces(result))
    return [accuracies(result), *(table for table in others if table is not None), *published(result)]


def _kept(result: xr.Dataset) -> Table | None:
    columns = [("prediction_kept", str(name)) for name in result.coords.get("control", xr.DataArray([])).values]
    columns = [column for column in columns if column[0] in result]
    titles = [f"Stays: {CONTROLS.get(control, control)}" for _, control in columns]
    if "accuracy_beyond" in result:
        columns, titles = [*columns, ("accuracy_beyond", "")], [*titles, "By more than 0.01"]
    rows = []
    for suite, name in _named(result):
        where = [{"phenomenon": name} | ({"control": control} if control else {}) for _, control in columns]
        cells = [_cell(result, variable, at) for (variable, _), at in zip(columns, where, strict=True)]
        rows.append(((suite, name.replace("_", " ")), cells))
    return _table("kept", KEPT, ("Suite", "Phenomenon"), titles, rows)


def _facts(result: xr.Dataset) -> Table | None:
    """The phenomena whose answers are ranked, or filled."""
    known = [name for name in OF_FACTS if name in result]
    if known == ["accuracy"]:
        return None
    rows = []
    for suite, name in _named(result):
        cells = [_cell(result, variable, {"phenomenon": name}) for variable in known]
        if any(cells[1:]):
            rows.append(((suite, name.replace("_", " ")), cells))
    return _table("facts", FACTS, ("Suite", "Phenomenon"), [OF_FACTS[name] for name in known], rows)


def _by_suite(result: xr.Dataset) -> Table | None:
    """What each suite has more than baselines and changed texts have, and by what the names of subjects say."""
    columns: list[tuple[str, dict[str, Any], str]] = []
    words = SERIES | CONTROLS
    for variable, title in OF_SUITES.items():
        dims = [dim for dim in ("baseline", "control") if variable in result and dim in result[variable].dims]
        labels = result[dims[0]].values.tolist() if dims else [""] * (variable in result)
        columns += [(variable, {dim: label for dim in dims}, title.format(words.get(label, label))) for label in labels]
    rows = [
        ((suite,), [_cell(result, variable, {"suite": suite} | at) for variable, at, _ in columns])
        for suite in result["suite"].values.tolist()
    ]
    return _table("suites", SUITES, ("Suite",), [title for *_, title in columns], rows)


def _by_pieces(result: xr.Dataset) -> Table | None:
    if "accuracy_by_pieces" not in result:
        return None
    sizes = result["pieces"].values.tolist()
    rows = [
        ((suite,), [_cell(result, "accuracy_by_pieces", {"suite": suite, "pieces": size}) for size in sizes])
        for suite in result["suite"].values.tolist()
    ]
    return _table("pieces", PIECES, ("Suite",), sizes, rows)


def _named(result: xr.Dataset) -> Iterator[tuple[str, str]]:
    """The suites and phenomena that have a scored item."""
    yield from ((suite, name) for suite, names in suites(result).items() for name in names)


def _cell(result: xr.Dataset, variable: str, where: dict[str, Any]) -> tuple[str, str] | None:
    return estimate(result, variable, **where).known_cell(".1f", 100)


def _table(
    name: str, caption: str, keys: tuple[str, ...], titles: Sequence[str], rows: list[tuple[tuple[Any, ...], Cells]]
) -> Table | None:
    """A table of the rows that have a value, without columns that have none; None without either."""
    rows = [(key, cells) for key, cells in rows if any(cells)]
    used = [at for at in range(len(titles)) if any(cells[at] for _, cells in rows)]
    columns = tuple(Column(titles[at].lower(), titles[at]) for at in used)
    return (
        Table(name, caption, keys, columns, [(key, [cells[at] for at in used]) for key, cells in rows])
        if used
        else None
    )
