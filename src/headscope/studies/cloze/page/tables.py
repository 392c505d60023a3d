"""All phenomena in one table: accuracy with both intervals, chance, baselines and controls."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import Cell, Estimate, estimate
from headscope.studies.cloze.page.summary import CONTROLS, SERIES, phenomena, suites

CAPTION = (
    "Accuracy in per cent, with 95% intervals over items and over lemmas. Right answers among the first ten of the "
    "vocabulary stand in the last column."
)


def tables(result: xr.Dataset) -> list[Table]:
    """The phenomena of each suite in turn."""
    columns = [Column("accuracy", "Accuracy"), Column("accuracy_by_lemma", "By lemma"), Column("chance", "Chance")]
    for dim, words in (("baseline", SERIES), ("control", CONTROLS)):
        if f"accuracy_{dim}" in result:
            columns += [Column(str(name), words.get(str(name), str(name)).capitalize()) for name in result[dim].values]
    columns += [Column("items", "Items")]
    if "precision_at_10" in result:
        columns.append(Column("precision_at_10", "Precision at 10"))
    return [Table("phenomena", CAPTION, "", "", ("Suite", "Phenomenon"), tuple(columns), list(_rows(result)))]


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], list[Cell | None]]]:
    every = {each.name: each for each in phenomena(result)}
    for suite, names in suites(result).items():
        for name in names:
            each = every[name]
            cells: list[Cell | None] = [each.accuracy.cell(".1f", 100), each.by_lemma.cell(".1f", 100)]
            cells.append((f"{100 * each.chance:.1f}", ""))
            for dim in ("baseline", "control"):
                if f"accuracy_{dim}" in result:
                    cells += [
                        _cell(estimate(result, f"accuracy_{dim}", phenomenon=name, **{dim: label}))
                        for label in result[dim].values
                    ]
            cells.append((f"{each.count:,}", ""))
            if "precision_at_10" in result:
                cells.append(_cell(estimate(result, "precision_at_10", phenomenon=name)))
            yield (suite, name.replace("_", " ")), cells


def _cell(score: Estimate) -> Cell | None:
    return score.cell(".1f", 100) if np.isfinite(score.value) else None
