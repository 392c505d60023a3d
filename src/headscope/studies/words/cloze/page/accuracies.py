"""All phenomena in one table: accuracy with both intervals, beside chance, baselines and controls."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Estimate, estimate

SERIES = {"random weights": "random weights", "unigram": "words alone (unigram)"}
CONTROLS = {"shuffled": "shuffled words", "truncated": "near words alone"}
# The share of samples beyond each bound of a 95% interval.
TAIL = 0.025
CAPTION = (
    "Accuracy in per cent, with 95% intervals over items and over lemmas. Right answers among the first ten of the "
    "vocabulary stand in the last column."
)


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A phenomenon: its accuracy over items and over lemmas, chance, and its numbers of items and of lemmas."""

    name: str
    accuracy: Estimate
    by_lemma: Estimate
    chance: float
    count: int
    lemmas: int

    @property
    def side(self) -> int:
        """1 where both intervals lie above chance, -1 where both lie below it, else 0.

        Of items that are all right or all wrong the probability of that by chance decides, a lemma counting once.
        """
        if self.accuracy.value in (0, 1):
            above = self.accuracy.value == 1
            by_chance = (self.chance if above else 1 - self.chance) ** self.lemmas
            return (1 if above else -1) if by_chance < TAIL else 0
        if min(self.accuracy.lower, self.by_lemma.lower) > self.chance:
            return 1
        return -1 if max(self.accuracy.upper, self.by_lemma.upper) < self.chance else 0


def phenomena(result: xr.Dataset) -> list[Phenomenon]:
    """The phenomena that have a scored item, in the order of the result."""
    rows = []
    for name in result["phenomenon"].values.tolist():
        if np.isfinite(float(result["accuracy"].sel(phenomenon=name))):
            accuracy, by_lemma = (estimate(result, key, phenomenon=name) for key in ("accuracy", "accuracy_by_lemma"))
            chance = float(result["chance"].sel(phenomenon=name))
            count = int(result["accuracy_n_examples"].sel(phenomenon=name))
            lemmas = int(result["accuracy_by_lemma_n_examples"].sel(phenomenon=name))
            rows.append(Phenomenon(str(name), accuracy, by_lemma, chance, count, lemmas))
    return rows


def suites(result: xr.Dataset) -> dict[str, list[str]]:
    """The scored phenomena of each suite."""
    scored = {phenomenon.name for phenomenon in phenomena(result)}
    named = json.loads(result.attrs["suites"])
    return {suite: [str(name) for name in names if str(name) in scored] for suite, names in named.items()}


def is_ranked(result: xr.Dataset, phenomenon: str) -> bool:
    """True for a phenomenon whose answers are ranked in the vocabulary."""
    if "precision_at_10" not in result:
        return False
    return bool(np.isfinite(float(result["precision_at_10"].sel(phenomenon=phenomenon))))


def accuracies(result: xr.Dataset) -> Table:
    """The phenomena of each suite in turn."""
    columns = [Column("accuracy", "Accuracy"), Column("accuracy_by_lemma", "By lemma"), Column("chance", "Chance")]
    for dim, words in (("baseline", SERIES), ("control", CONTROLS)):
        if f"accuracy_{dim}" in result:
            columns += [Column(str(name), words.get(str(name), str(name)).capitalize()) for name in result[dim].values]
    columns += [Column("items", "Items")]
    if "precision_at_10" in result:
        columns.append(Column("precision_at_10", "Precision at 10"))
    return Table("phenomena", CAPTION, ("Suite", "Phenomenon"), tuple(columns), list(_rows(result)))


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], Cells]]:
    by_name = {phenomenon.name: phenomenon for phenomenon in phenomena(result)}
    for suite, names in suites(result).items():
        for name in names:
            phenomenon = by_name[name]
            cells: Cells = [phenomenon.accuracy.cell(".1f", 100), phenomenon.by_lemma.cell(".1f", 100)]
            cells.append((f"{100 * phenomenon.chance:.1f}", ""))
            for dim in ("baseline", "control"):
                if f"accuracy_{dim}" in result:
                    cells += [
                        estimate(result, f"accuracy_{dim}", phenomenon=name, **{dim: label}).known_cell(".1f", 100)
                        for label in result[dim].values
                    ]
            cells.append((f"{phenomenon.count:,}", ""))
            if "precision_at_10" in result:
                cells.append(estimate(result, "precision_at_10", phenomenon=name).known_cell(".1f", 100))
            yield (suite, name.replace("_", " ")), cells
