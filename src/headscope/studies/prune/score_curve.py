"""The score after each step of pruning, and the result variables."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.engine.settings import Settings
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import interval, poisson_draws
from headscope.studies.prune.removal import PrunedModel, places
from headscope.tasks import LOWER_IS_BETTER, Task, resampled, score

# Largest difference of equal outputs, relative to the largest output.
SAME = 1e-5
PRUNED = "the pruned model"
# Long name, units, source.
VARIABLES = {
    "pruned_score": ("score of the pruned model", "score", "dev examples"),
    "score_change": ("change of the score by pruning", "score", "pruned less unpruned, on the same dev examples"),
    "heads_left": ("heads left", "heads", PRUNED),
    "parameters": ("parameters of the model", "parameters", PRUNED),
    "reloaded_score": ("score of the saved model", "score", "loaded from its folder, dev examples"),
    "removed_at": (
        "place in the order of removal, least important first",
        "place, from 1",
        "heads that stay have none",
    ),
}


@dataclass(frozen=True)
class PruningStep:
    """A step: the remaining heads of each layer, the parameters, and the model's dev outputs."""

    heads: tuple[int, ...]
    parameters: int
    outputs: Float[np.ndarray, "example output"]


@dataclass
class ScoreCurve:
    """The score of a task after each step.

    * `targets`: the targets of the dev examples.
    * `tolerance`: largest decrease of the task's main metric; None for no limit.
    * `kept`: the smallest model so far within the tolerance.
    * `end`: the step of that model.
    * `points`: all steps; the first is the original model.
    """

    task: Task
    targets: Float[np.ndarray, " example"]
    tolerance: float | None
    kept: PrunedModel
    end: PruningStep
    points: list[PruningStep]

    def add(self, pruned: PrunedModel, outputs: Float[np.ndarray, "example output"]) -> bool:
        """Add a smaller model. Returns: whether its score is within the tolerance, so that it is kept."""
        self.points.append(point(pruned, outputs))
        good = self.tolerance is None or self.fall(self.points[-1]) <= self.tolerance
        if good:
            self.kept, self.end = pruned, self.points[-1]
        return good

    def fall(self, pruned: PruningStep) -> float:
        """Decrease of the task's main metric since the original model."""
        metric = self.task.metrics[0]
        before, after = (float(score(metric, each.outputs, self.targets)) for each in (self.points[0], pruned))
        return after - before if metric in LOWER_IS_BETTER else before - after

    def to_variables(self, settings: Settings) -> dict[str, xr.DataArray]:
        """The result variables."""
        task, kept, outputs = self.task, self.kept, np.stack([each.outputs for each in self.points])
        draws = poisson_draws(range(len(self.targets)), settings.seed, settings.resamples)
        scores = np.stack([score(metric, outputs, self.targets) for metric in task.metrics], axis=-1)
        drawn = np.stack([resampled(metric, outputs, self.targets, draws) for metric in task.metrics], axis=-1)
        order = np.full(kept.left.shape, np.nan)
        order[places(kept.gone)] = np.arange(1, len(kept.gone) + 1)
        layers, heads = (np.arange(1, size + 1) for size in order.shape)
        share = [1 - sum(each.heads) / sum(self.points[0].heads) for each in self.points]
        by_metric = {"share_removed": share, "metric": list(task.metrics)}
        bounds = by_metric | {"bound": list(BOUNDS)}
        values = {
            "pruned_score": (scores, by_metric),
            "pruned_score_ci": (interval(drawn), bounds),
            "pruned_score_n_examples": (np.full(scores.shape, len(self.targets)), by_metric),
            "score_change": (scores - scores[0], by_metric),
            "score_change_ci": (interval(drawn - drawn[:, :1]), bounds),
            "heads_left": (np.array([each.heads for each in self.points]), {"share_removed": share, "layer": layers}),
            "parameters": (np.array([each.parameters for each in self.points]), {"share_removed": share}),
            "removed_at": (order, {"layer": layers, "head": heads}),
        }
        return {name: _variable(name, array, coords) for name, (array, coords) in values.items()}

    def reloaded(self, outputs: Float[np.ndarray, "example output"]) -> xr.DataArray:
        """The score of the kept model after saving and loading, from its dev outputs.

        Raises `RuntimeError` if the outputs have changed.
        """
        difference, scale = np.abs(outputs - self.end.outputs).max(), max(1.0, np.abs(self.end.outputs).max())
        if not difference <= SAME * scale:
            raise RuntimeError(f"outputs of the saved model differ by {difference:.1e} after loading")
        scores = np.array([score(metric, outputs, self.targets) for metric in self.task.metrics])
        return _variable("reloaded_score", scores, {"metric": list(self.task.metrics)})


def curve(
    task: Task,
    targets: Float[np.ndarray, " example"],
    tolerance: float | None,
    whole: PrunedModel,
    outputs: Float[np.ndarray, "example output"],
) -> ScoreCurve:
    """The curve of a model with all of its heads, before the first step."""
    start = point(whole, outputs)
    return ScoreCurve(task, targets, tolerance, whole, start, [start])


def point(pruned: PrunedModel, outputs: Float[np.ndarray, "example output"]) -> PruningStep:
    """The step of a model and its dev outputs."""
    parameters = sum(parameter.numel() for parameter in pruned.model.network.parameters())
    return PruningStep(pruned.model.capture.heads, parameters, outputs)


def _variable(name: str, values: np.ndarray, coords: dict) -> xr.DataArray:
    long_name, units, source = VARIABLES[name.removesuffix("_ci").removesuffix("_n_examples")]
    if name.endswith("_ci"):
        long_name = f"95% bootstrap interval of {long_name}"
    if name.endswith("_n_examples"):
        long_name, units = f"examples behind {long_name}", "examples"
    return xr.DataArray(values, coords, tuple(coords), attrs={"long_name": long_name, "units": units, "source": source})
