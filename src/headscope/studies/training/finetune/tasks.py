"""The tasks of a result, each by its main metric, and what a page says of each of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import label
from headscope.report.claims import Claim, above
from headscope.report.declared import Part, parts_of
from headscope.report.numbers import Numbers
from headscope.report.wording import Estimate, n_examples
from headscope.statistics.significance import WIDTH

ALL_WEIGHTS = "finetuned"


@dataclass(frozen=True)
class TaskNumbers:
    """The numbers of a task that has a score, by its first metric."""

    numbers: Numbers
    name: str

    @cached_property
    def metric(self) -> str:
        """The first metric of the task."""
        return str(self.numbers.array("score", task=self.name).dropna("metric", how="all")["metric"].values[0])

    @property
    def metric_words(self) -> str:
        """The first metric in words."""
        return label("metric", self.metric)

    @property
    def where(self) -> dict[str, str]:
        """The labels of its main numbers."""
        return {"task": self.name, "metric": self.metric}

    @cached_property
    def scores(self) -> xr.DataArray:
        """The scores of all ways."""
        return self.numbers.array("score", **self.where)

    @cached_property
    def inits(self) -> list[str]:
        """The ways to fine-tune that have a score."""
        return self.scores.dropna("init")["init"].values.tolist()

    @property
    def main_init(self) -> str:
        """The way that most findings are about: training all weights, else the last."""
        return ALL_WEIGHTS if ALL_WEIGHTS in self.inits else self.inits[-1]

    @property
    def examples(self) -> int:
        """The number of dev examples."""
        return (n_examples(self.scores) or (0, 0))[0]

    @property
    def chance(self) -> float:
        """The score of a constant answer, NaN where it is not known."""
        return float(self.numbers.result["chance"].sel(self.where))

    @property
    def simple_models(self) -> list[str]:
        """The simple models that it has scores of."""
        return self.numbers.result["baseline_score"].sel(self.where).dropna("baseline")["baseline"].values.tolist()

    def __call__(self, name: str, **labels: Any) -> Estimate:
        """A number of the task; see `Numbers`."""
        return self.numbers(name, **self.where, **labels)

    def n(self, name: str, **labels: Any) -> int:
        """How many cases a number rests on."""
        return self.numbers.n(name, **self.where, **labels)


def tasks(numbers: Numbers) -> Iterator[TaskNumbers]:
    """The tasks that have a score."""
    return (TaskNumbers(numbers, name) for name in numbers.labels("score", "task"))


def by_task(part: Callable[[TaskNumbers], Any]) -> Part:
    """A part of a page that says something of each task, unless it lacks a number for that."""

    def parts(numbers: Numbers) -> list[Any]:
        return parts_of([lambda _, task=task: part(task) for task in tasks(numbers)], numbers.result)

    return parts


def corrected(score: Estimate, limit: float, n: int, tests: int) -> Claim:
    """A score above a limit; q corrects for the number of scores of which dev chose it (Bonferroni)."""
    error = (score.upper - score.lower) / WIDTH
    q = min(1.0, 2 * tests * float(norm.sf((score.value - limit) / error))) if error > 0 else float("nan")
    return above(score, limit, n, q)
