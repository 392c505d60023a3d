"""What runs came to, as labelled scores: mean over seeds, spread, interval over examples, chance."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.engine import Settings
from headscope.results import BOUNDS
from headscope.tally import CONFIDENCE, poisson_draws
from headscope.tasks import Task, resampled, score
from headscope.training.journal import Trained

# The loss is averaged over each of so many equal parts of a training.
PARTS = 50
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "score": (("task", "init", "metric"), "score on dev", "mean over seeds of the kept model"),
    "score_ci": (("task", "init", "metric", "bound"), "95% interval of score", "bootstrap over dev examples"),
    "score_n_examples": (("task", "init", "metric"), "examples behind score", "dev examples"),
    "score_std": (("task", "init", "metric"), "spread of the score over seeds", "standard deviation over seeds"),
    "score_by_seed": (("task", "init", "seed", "metric"), "score of each seed", "the kept model of each seed"),
    "epoch_score": (("task", "init", "epoch", "metric"), "score after each epoch", "mean over seeds"),
    "train_loss": (("task", "init", "progress"), "training loss", "mean over seeds and over the steps of each part"),
    "chance": (("task", "metric"), "score of always the same answer", "commonest class or mean of the dev examples"),
}
UNITS = {"score_n_examples": "examples", "train_loss": "nats or squared error"}


def labelled(
    tasks: Sequence[Task],
    inits: Sequence[str],
    seeds: Sequence[int],
    found: Mapping[tuple[str, str, int], Trained],
    settings: Settings,
) -> xr.Dataset:
    """The variables of a table; `found` has what each task, init and seed came to."""
    coords = {
        "task": [task.name for task in tasks],
        "init": list(inits),
        "seed": list(seeds),
        "metric": list(dict.fromkeys(metric for task in tasks for metric in task.metrics)),
        "epoch": list(range(1, 1 + max((len(each.epoch_outputs) for each in found.values()), default=0))),
        "progress": [(part + 1) / PARTS for part in range(PARTS)],
        "bound": list(BOUNDS),
    }
    variables = {name: _empty(name, coords) for name in VARIABLES}
    for task in tasks:
        targets = task.targets(task.dev)
        draws = poisson_draws(range(len(targets)), settings.seed, settings.resamples)
        for metric in task.metrics:
            variables["chance"].loc[{"task": task.name, "metric": metric}] = score(metric, constant(task), targets)
        for init in inits:
            trained = [found[task.name, init, seed] for seed in seeds]
            for name, values in _cell(task, trained, targets, draws).items():
                place = {"task": task.name, "init": init} | (
                    {} if name == "train_loss" else {"metric": list(task.metrics)}
                )
                variables[name].loc[place] = values
    return xr.Dataset(variables)


def constant(task: Task) -> Float[np.ndarray, "example output"]:
    """What a model answers that always answers the same: the commonest class, or the mean."""
    targets = task.targets(task.dev)
    if task.kind == "regression":
        return np.full((len(targets), 1), targets.mean())
    counts = np.bincount(targets.astype(int), minlength=len(task.labels))
    return np.tile(np.eye(len(counts))[counts.argmax()], (len(targets), 1))


def loss_curve(losses: Float[np.ndarray, " step"]) -> Float[np.ndarray, " part"]:
    """The mean loss of each of `PARTS` parts of a training; shorter trainings have a step in several parts.

    >>> loss_curve(np.array([3.0, 1.0]))[[0, 24, 25, 49]]
    array([3., 3., 1., 1.])
    """
    if not len(losses):
        return np.full(PARTS, np.nan)
    starts = np.arange(PARTS) * len(losses) // PARTS
    stops = np.maximum(starts + 1, (np.arange(PARTS) + 1) * len(losses) // PARTS)
    return np.array([losses[start:stop].mean(dtype=np.float64) for start, stop in zip(starts, stops, strict=True)])


def _cell(task: Task, trained: list[Trained], targets: np.ndarray, draws: np.ndarray) -> dict[str, np.ndarray]:
    """The values of one task with one init; metrics are the last axis, bounds after them."""

    def scores(outputs: np.ndarray) -> np.ndarray:
        return np.stack([score(metric, outputs, targets) for metric in task.metrics], axis=-1)

    outputs = np.stack([each.outputs for each in trained])
    by_seed = scores(outputs)
    drawn = np.stack([resampled(metric, outputs, targets, draws).mean(-1) for metric in task.metrics], axis=-1)
    tail = (1 - CONFIDENCE) / 2
    values = {
        "score": by_seed.mean(0),
        "score_ci": np.quantile(drawn, [tail, 1 - tail], axis=0).T,
        "score_n_examples": np.full(len(task.metrics), len(targets)),
        "score_std": by_seed.std(0, ddof=1) if len(trained) > 1 else np.full(len(task.metrics), np.nan),
        "score_by_seed": by_seed,
        "train_loss": np.mean([loss_curve(each.train_loss) for each in trained], axis=0),
    }
    if len(trained[0].epoch_outputs):
        values["epoch_score"] = np.mean([scores(each.epoch_outputs) for each in trained], axis=0)
    return values


def _empty(name: str, coords: Mapping[str, list]) -> xr.DataArray:
    dims, long_name, source = VARIABLES[name]
    shape = [len(coords[dim]) for dim in dims]
    attrs = {"long_name": long_name, "units": UNITS.get(name, "fraction"), "source": source}
    return xr.DataArray(np.full(shape, np.nan), {dim: coords[dim] for dim in dims}, dims, attrs=attrs)
