"""What the findings of fine-tuning read: the tasks with a score, their main metric, starts and constant answers."""

from math import nan

import xarray as xr
from scipy.stats import norm

from headscope.report.claims import Claim, above
from headscope.report.wording import Estimate, measured
from headscope.statistics.interval_tests import WIDTH


def names(result: xr.Dataset) -> list[str]:
    """The tasks that have a score."""
    return result["score"].dropna("task", how="all")["task"].values.tolist()


def starts(scores: xr.DataArray) -> list[str]:
    """The starts that have a score."""
    return scores.dropna("init")["init"].values.tolist()


def main_metric(result: xr.Dataset, task: str) -> str:
    """The first metric of a task."""
    return str(result["score"].sel(task=task).dropna("metric", how="all")["metric"].values[0])


def scores_of(result: xr.Dataset, task: str) -> xr.DataArray:
    scores = measured(result, "score", task=task, metric=main_metric(result, task))
    assert scores is not None, "a task without a score"
    return scores


def chance_of(result: xr.Dataset, task: str) -> float:
    """The score of a constant answer, NaN where it is not known."""
    return float(result["chance"].sel(task=task, metric=main_metric(result, task)))


def corrected(score: Estimate, chance: float, n: int, tests: int) -> Claim:
    """A score above a constant answer; q corrects for the number of scores of which dev chose it (Bonferroni)."""
    error = (score.upper - score.lower) / WIDTH
    q = min(1.0, 2 * tests * float(norm.sf((score.value - chance) / error))) if error > 0 else nan
    return above(score, chance, n, q)
