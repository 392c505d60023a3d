"""The best heads of a result: selected on one half of the inputs, scored on the other, beside a baseline."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import isfinite, nan
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.claims import Claim, paired
from headscope.report.wording import Estimate, estimate, of_array, scalar
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, enough, is_special

HEAD = ["layer", "head"]
ARROWS = {
    "dependent_to_head": "dep → head",
    "head_to_dependent": "head → dep",
    "source_to_target": "source → target",
    "target_to_source": "target → source",
    "either": "either way",
}


@dataclass(frozen=True, slots=True)
class BestHeads:
    """The variables in which a study writes its best heads; "" or none where it has no such variable.

    * `dims`: there is a best head for each combination of their labels, such as a relation.
    * `score`, `gains`: of the best head, and over each baseline; `baselines`: their scores, by the name on the page.
    * `direction`: in which it is best; `reference`: the baseline that it is compared with.
    * `random`: the score with random weights; of many heads, the highest.
    * `cases`, `held_out`: numbers of cases in all inputs, and in the half that gives the scores.
    * `rate`: the false discovery rate of a head.
    * `prefix`: the start of the variables of its layer and head.
    """

    dims: tuple[str, ...]
    score: str
    gains: tuple[str, ...]
    baselines: Mapping[str, str] = field(default_factory=dict)
    direction: str = ""
    reference: str = ""
    random: str = ""
    cases: str = ""
    held_out: str = ""
    rate: str = "q_value"
    prefix: str = "chosen"

    def variables_of(self, result: xr.Dataset) -> list[str]:
        """The names of its variables, with those of their intervals that a result has."""
        numbers = [self.score, *self.gains, *self.baselines.values(), self.random]
        chosen = [self.direction, self.reference, self.cases, self.held_out, self.rate]
        coordinates = [f"{self.prefix}_{name}" for name in HEAD]
        optional = {self.random, *(f"{name}_ci" for name in numbers)}
        names = [*coordinates, *numbers, *chosen, *sorted(optional)]
        return [name for name in dict.fromkeys(names) if name and (name in result or name not in optional)]


@dataclass(frozen=True, slots=True)
class ChosenHead:
    """A head with its scores, as shares.

    * `labels`: what it is best for, by dimension; `head`: such as "8-10".
    * `gain`: over the highest baseline; `reference`: which baseline that is, as the study names it.
    * `random`: the score with random weights, None where that was not measured.
    * `q`: the false discovery rate of the head in all inputs.
    """

    labels: dict[str, str]
    head: str
    direction: str
    score: Estimate
    baselines: dict[str, Estimate]
    gain: Estimate
    reference: Any
    random: Estimate | None
    q: float
    cases: int
    held_out: int

    @property
    def name(self) -> str:
        """What it is best for."""
        return ", ".join(self.labels.values())

    @property
    def enough(self) -> bool:
        """True if there are enough cases for a claim."""
        return enough(self.cases)

    @property
    def is_known(self) -> bool:
        """True if no score, gain or baseline is missing."""
        estimates = (self.score, self.gain, *self.baselines.values())
        return all(isfinite(estimate.value) for estimate in estimates) and self.reference != ""

    @property
    def special(self) -> bool:
        """True if it beats its baseline by 10 points, beyond chance, and any head with random weights."""
        above = self.random is None or self.score.value > self.random.value
        return above and is_special(self.gain.value, self.q, self.cases)

    @property
    def claim(self) -> Claim:
        """Whether the score is above the highest baseline that `gain` is over, in the cases that did not choose it."""
        return paired(self.score, Estimate(self.score.value - self.gain.value), self.gain, self.held_out)

    @property
    def arrow(self) -> str:
        """The direction, in words."""
        return ARROWS[self.direction]


def chosen_heads(result: xr.Dataset, study: BestHeads) -> list[ChosenHead]:
    """The best heads in the order of the result; without those that a half of the inputs lacks, or without a score."""
    combinations = product(*(result.variables[dim].values.tolist() for dim in study.dims))
    heads = [_chosen(result, study, dict(zip(study.dims, labels, strict=True))) for labels in combinations]
    return [head for head in heads if head and head.is_known]


def head_at(result: xr.Dataset, study: BestHeads, position: Mapping[str, Any]) -> ChosenHead:
    """One head of a result, by layer, head and direction, at one label of each dimension of `study`."""

    def read(name: str) -> Any:
        return scalar(result, name, position).item()

    return ChosenHead(
        {dim: str(position[dim]) for dim in study.dims},
        head_name(position["layer"], position["head"]),
        position.get("direction", ""),
        estimate(result, study.score, **position),
        {words: estimate(result, name, **position) for words, name in study.baselines.items()},
        min(
            (estimate(result, name, **position) for name in study.gains),
            key=lambda gain: (isfinite(gain.value), gain.value),
        ),
        read(study.reference) if study.reference else None,
        _random(result, study, position),
        float(read(study.rate)) if study.rate else float("nan"),
        int(read(study.cases)) if study.cases else 0,
        int(read(study.held_out)) if study.held_out else 0,
    )


def _chosen(result: xr.Dataset, study: BestHeads, labels: Mapping[str, Any]) -> ChosenHead | None:
    """The head that was chosen for some labels; None where there is none."""
    layer, head = (float(scalar(result, f"{study.prefix}_{name}", labels)) for name in HEAD)
    if layer != layer:
        return None
    direction = {"direction": str(scalar(result, study.direction, labels))} if study.direction else {}
    return head_at(result, study, {**labels, "layer": int(layer), "head": int(head), **direction})


def _random(result: xr.Dataset, study: BestHeads, position: Mapping[str, Any]) -> Estimate | None:
    """The score with random weights; of a number of each head, the highest."""
    if not study.random or study.random not in result:
        return None
    labels = {dim: label for dim, label in position.items() if dim in (*study.dims, "direction")}
    values = scalar(result, study.random, labels)
    highest = float(values.max(where=~np.isnan(values), initial=-np.inf))
    random = Estimate(highest) if values.ndim else estimate(result, study.random, **labels)
    return random if isfinite(random.value) else None


def chosen_for(result: xr.Dataset, study: BestHeads, layer: int, head: int) -> list[ChosenHead]:
    """The labels of the first dimension for which a head is the best one."""
    selected = (result["chosen_layer"] == layer) & (result["chosen_head"] == head)
    read = result[study.variables_of(result)]
    return chosen_heads(read.sel({study.dims[0]: selected}), study) if bool(selected.any()) else []


def by_gain(heads: Iterable[ChosenHead]) -> list[ChosenHead]:
    """Chosen heads with enough cases, the largest gain first; the head of all cases is left out."""
    return sorted((head for head in heads if head.enough and head.name != "all"), key=lambda head: -head.gain.value)


def special_heads(result: xr.Dataset, dim: str, without: str = "") -> tuple[int, int, list[str]]:
    """The numbers of special heads and of heads, and the labels of `dim`, but `without`, that have a special head."""
    special = result["special"].max(set(result["special"].dims) - {*HEAD, dim})
    counted = special.where(special[dim] != without)
    names = special[dim].values[(counted.max(HEAD) == 1).values].tolist()
    return int((counted.max(dim) == 1).sum()), int(special.notnull().any(dim).sum()), names


def above_baseline(score: xr.DataArray, baseline: xr.DataArray) -> xr.DataArray:
    """Scores minus their baselines, with their intervals; a baseline has no error."""
    bounds = {name: score[name] - baseline for name in ("lower", "upper") if name in score.coords}
    return (score - baseline).assign_coords(bounds)


def special_claim(result: xr.Dataset, gain: xr.DataArray, baseline: xr.DataArray, cases: xr.DataArray) -> Claim:
    """The claim that some head is special: the surest gain of special heads, else the gain that may be largest.

    Without a special head it does not hold, and fails only where no gain may reach that of a special head.

    * `gain`: of heads over their baselines, with its interval; `cases`: how many each label has.
    """
    special = bool((result["special"] == 1).any())
    judged = gain.where(result["special"] == 1 if special else cases >= LEAST_CASES)
    bound = judged.coords.get("lower" if special else "upper", judged).where(judged.notnull())
    if not bool(bound.notnull().any()):
        return Claim(nan, nan, Estimate(nan), 0)
    position = bound.fillna(-2).argmax(bound.dims)
    chosen = gain.isel(position)
    beside, n, q = (array.broadcast_like(gain).isel(position).item() for array in (baseline, cases, result["q_value"]))
    return Claim(beside + float(chosen), beside, of_array(chosen), int(n), q if special else max(q, RATE), GAIN)


def tests_made(result: xr.Dataset) -> str:
    """The number of tests of special heads: that of rates in the result."""
    return f"{int(result['q_value'].notnull().sum()):,}"


def options(result: xr.Dataset) -> dict[str, Any]:
    """The options of the study."""
    return json.loads(result.attrs.get("options", "{}"))
