"""The score after each step of pruning, and the result variables."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora.tasks import Task, chance, intervals, score, scored
from headscope.models.prediction_heads import is_causal
from headscope.outputs.promise import Promise
from headscope.outputs.size_and_speed import cache_bytes, megabytes, multiplications, parameters
from headscope.passes.settings import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.size.prune import SCORES, STUDY
from headscope.studies.size.prune.removal import PrunedModel, places

# Largest difference of equal outputs, relative to the largest output.
SAME = 1e-5
SIZES = {"parameters": parameters, "megabytes": megabytes, "multiplications": multiplications}


@dataclass(frozen=True)
class PruningStep:
    """A step: the remaining heads of each layer, the sizes of the model by name, and its dev outputs."""

    heads: tuple[int, ...]
    sizes: dict[str, float]
    outputs: Float[np.ndarray, "example output"]


@dataclass
class ScoreCurve:
    """The score of a task after each step.

    * `targets`: the targets of the dev examples.
    * `promise`: the bound of what may be lost; None for no limit.
    * `kept`: the smallest model so far that keeps the promise.
    * `end`: the step of that model.
    * `points`: all steps; the first is the original model.
    """

    task: Task
    targets: Float[np.ndarray, " example"]
    promise: Promise | None
    kept: PrunedModel
    end: PruningStep
    points: list[PruningStep]

    def add(self, pruned: PrunedModel, outputs: Float[np.ndarray, "example output"]) -> bool:
        """Add a smaller model. Returns: whether it keeps the promise, so that it is kept."""
        self.points.append(point(pruned, outputs))
        good = self.promise is None or self.promise.keeps(self.points[0].outputs, outputs)
        if good:
            self.kept, self.end = pruned, self.points[-1]
        return good

    @property
    def share(self) -> float:
        """Fraction of heads that the kept model lacks."""
        return 1 - sum(self.end.heads) / sum(self.points[0].heads)

    def to_variables(self, settings: Settings) -> dict[str, xr.DataArray]:
        """The result variables."""
        task, kept, outputs = self.task, self.kept, np.stack([point.outputs for point in self.points])
        draws, few = poisson_draws(task.dev.units, settings.seed, settings.resamples), equal_units(task.dev.units)
        scores, resamples = scored(task.metrics, outputs, self.targets, draws)
        order = np.full(kept.left.shape, np.nan)
        order[places(kept.gone)] = np.arange(1, len(kept.gone) + 1)
        order = order.repeat(kept.shared, axis=1)
        share = [1 - sum(point.heads) / sum(self.points[0].heads) for point in self.points]
        variables = Variables({"share_removed": share, "metric": task.metrics}, STUDY.source, STUDY.labels)
        examples = np.full(scores.shape, len(self.targets))
        count = Count(examples, "examples behind score of the pruned model", dims=SCORES)
        bounds = intervals(task.metrics, scores, resamples, few)
        variables.add("pruned_score", scores, interval=bounds, count=count)
        variables.add("score_change", scores - scores[0], interval=interval(resamples - resamples[:, :1], few))
        variables.add("chance", chance(task, self.targets))
        if self.promise:
            self._add_tests(variables, self.promise)
        variables.add("heads_left", np.array([step.heads for step in self.points]))
        for name in self.end.sizes:
            variables.add(name, [step.sizes[name] for step in self.points])
        variables.add("removed_at", order)
        return variables.arrays

    def _add_tests(self, variables: Variables, promise: Promise) -> None:
        """Add what each step gains on the examples that test it, and on a half that chose the number of heads."""
        tests = {"choosing_gain": True, "tested_gain": False}
        for name, choosing in list(tests.items())[promise.in_order :]:
            before = self.points[0].outputs
            gains = np.stack([promise.gain(before, point.outputs, choosing=choosing) for point in self.points])
            count = int((promise.choosing if choosing else promise.testing).sum())
            variables.add(name, gains[:, 0], interval=gains[:, 1:], count=count)

    def reloaded(self, outputs: Float[np.ndarray, "example output"]) -> xr.DataArray:
        """The score of the kept model after saving and loading, from its dev outputs.

        Raises `RuntimeError` if the outputs have changed.
        """
        difference, scale = np.abs(outputs - self.end.outputs).max(), max(1.0, np.abs(self.end.outputs).max())
        if not difference <= SAME * scale:
            raise RuntimeError(f"outputs of the saved model differ by {difference:.1e} after loading")
        scores = np.array([score(metric, outputs, self.targets) for metric in self.task.metrics])
        return Variables({"metric": self.task.metrics}, STUDY.source, STUDY.labels).add("reloaded_score", scores)


def curve(
    task: Task,
    targets: Float[np.ndarray, " example"],
    promise: Promise | None,
    unpruned: PrunedModel,
    outputs: Float[np.ndarray, "example output"],
) -> ScoreCurve:
    """The curve of a model with all of its heads, before the first step."""
    start = point(unpruned, outputs)
    return ScoreCurve(task, targets, promise, unpruned, start, [start])


def point(pruned: PrunedModel, outputs: Float[np.ndarray, "example output"]) -> PruningStep:
    """The step of a model and its dev outputs."""
    model = pruned.model
    measures = SIZES | ({"cache_bytes": cache_bytes} if is_causal(model) else {})
    return PruningStep(model.capture.heads, {name: size(model) for name, size in measures.items()}, outputs)
