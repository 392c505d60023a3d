"""The accuracies of a result, beside chance, baselines and controls."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.wording import Estimate, estimate

SERIES = {"random weights": "random weights", "unigram": "words alone (unigram)"}
CONTROLS = {"shuffled": "shuffled words", "truncated": "near words alone"}


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A phenomenon: its accuracy over items and over lemmas, chance, and its number of items."""

    name: str
    accuracy: Estimate
    by_lemma: Estimate
    chance: float
    count: int

    @property
    def is_chance(self) -> bool:
        """True unless both intervals lie on one side of chance."""
        above = min(self.accuracy.lower, self.by_lemma.lower) > self.chance
        below = max(self.accuracy.upper, self.by_lemma.upper) < self.chance
        return not (above or below)

    @property
    def is_below(self) -> bool:
        """True for an accuracy below chance by more than its intervals."""
        return not self.is_chance and self.accuracy.value < self.chance


def phenomena(result: xr.Dataset) -> list[Phenomenon]:
    """The phenomena that have a scored item, in the order of the result."""
    every = []
    for name in result["phenomenon"].values.tolist():
        if np.isfinite(float(result["accuracy"].sel(phenomenon=name))):
            accuracy, by_lemma = (estimate(result, key, phenomenon=name) for key in ("accuracy", "accuracy_by_lemma"))
            chance = float(result["chance"].sel(phenomenon=name))
            count = int(result["accuracy_n_examples"].sel(phenomenon=name))
            every.append(Phenomenon(str(name), accuracy, by_lemma, chance, count))
    return every


def suites(result: xr.Dataset) -> dict[str, list[str]]:
    """The scored phenomena of each suite."""
    scored = {phenomenon.name for phenomenon in phenomena(result)}
    named = json.loads(result.attrs["suites"])
    return {suite: [name for name in names if name in scored] for suite, names in named.items()}


def is_ranked(result: xr.Dataset, phenomenon: str) -> bool:
    """True for a phenomenon whose answers are ranked in the vocabulary."""
    if "precision_at_10" not in result:
        return False
    return bool(np.isfinite(float(result["precision_at_10"].sel(phenomenon=phenomenon))))
