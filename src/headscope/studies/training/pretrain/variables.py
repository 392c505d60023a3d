"""Result variables of the trainings: loss, and what heads look at, by way and step; when heads first look so."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval
from headscope.statistics.runs import over_seeds
from headscope.studies.training.pretrain import STUDY
from headscope.training.run_record import TrainedOutputs
from headscope.training.trainer import PARTS, loss_curve

# From this share of attention on, heads attend to a token: as random weights never do.
THERE = 1 / 3
FOCUS = ("previous", "next", "special")
Runs = Mapping[str, Sequence[TrainedOutputs]]
Courses = Mapping[str, Sequence[Mapping[str, np.ndarray]]]


def to_variables(
    runs: Runs,
    courses: Courses,
    unigrams: Mapping[str, Float[np.ndarray, "example 3"]],
    units: Sequence[int],
    settings: Settings,
) -> xr.Dataset:
    """Result variables of all ways.

    * `runs`, `courses`: of each way the outputs and the course of each seed; `unigrams`: the losses of its held-out
      inputs by the frequency of pieces alone.
    * `units`: the number of what each held-out input is resampled with, its document or itself.
    """
    steps = next(iter(courses.values()))[0]["step"]
    seeds = len(next(iter(courses.values())))
    coords = {"way": [*runs], "focus": FOCUS, "step": steps.tolist()}
    coords |= {"seed": [settings.seed + seed for seed in range(seeds)]}
    coords |= {"progress": [(part + 1) / PARTS for part in range(PARTS)]}
    variables = Variables(coords, STUDY.source, STUDY.labels, "95% interval of", resampled=f"{seeds} seeds")
    masked = [int(first.outputs[:, 1].sum()) for first, *_ in runs.values()]
    count = Count(np.array(masked), "pieces of the held-out text", "pieces", ("way",))
    by_seed = {
        "held_out_loss": _stacked(courses, lambda course: course["outputs"][:, 0] / course["outputs"][:, 1]),
        "focus_share": _stacked(courses, focus_shares),  # [way, seed, focus, step]
        "mean_entropy": _stacked(courses, lambda course: course["entropy"].mean(-1)),
    }
    for name, values in by_seed.items():
        _add(variables, name, values, count if name == "held_out_loss" else None)
    first = first_steps(by_seed["focus_share"], steps)
    logs = np.moveaxis(np.log1p(first), 1, 0)  # [seed, way, focus]
    variables.add("first_step", np.expm1(logs.mean(0)), interval=np.expm1(over_seeds(logs, least=2)))
    variables.add("first_step_by_seed", first)
    gains = [_gain(runs[way], unigrams[way], units, settings) for way in runs]
    variables.add(
        "frequency_gain", [gain for gain, _ in gains], interval=np.array([bounds for _, bounds in gains]), count=count
    )
    losses = [np.mean([loss_curve(run.train_loss) for run in trainings], axis=0) for trainings in runs.values()]
    variables.add("train_loss", losses)
    variables.add("train_seconds", [np.mean([float(run.seconds) for run in trainings]) for trainings in runs.values()])
    variables.add("trained_parameters", [float(first.trained) for first, *_ in runs.values()])
    return xr.Dataset({name: array for name, array in variables.arrays.items() if bool(array.notnull().any())})


def _stacked(courses: Courses, number: Callable[[Mapping[str, np.ndarray]], np.ndarray]) -> np.ndarray:
    """A number of each training, [way, seed, ...]."""
    return np.stack([np.stack([number(course) for course in seeds]) for seeds in courses.values()])


def _add(variables: Variables, name: str, by_seed: Float[np.ndarray, "way seed *dims"], count: Count | None) -> None:
    """Add a number of each seed, and its mean over seeds."""
    bounds = over_seeds(np.moveaxis(by_seed, 1, 0), least=2)
    variables.add(name, by_seed.mean(1), interval=bounds, count=count)
    variables.add(f"{name}_by_seed", by_seed)


def focus_shares(course: Mapping[str, np.ndarray]) -> Float[np.ndarray, "focus step"]:
    """The attention to the previous and to the next token of the head that has most of it; to special ones the mean."""
    previous, _, following, cls, sep, _ = np.moveaxis(course["focus"], -1, 0)  # [step, head] each
    return np.stack([previous.max(-1), following.max(-1), (cls + sep).mean(-1)])


def first_steps(
    shares: Float[np.ndarray, "*dims step"], steps: Float[np.ndarray, " step"]
) -> Float[np.ndarray, "*dims"]:
    """The step at which a share first is `THERE`, between two steps by their logarithms (1 is added); NaN if never.

    >>> first_steps(np.array([[0.0, 0.0, 1.0], [0.0, 0.1, 0.2]]), np.array([0, 7, 63])).round(1).tolist()
    [15.0, nan]
    """
    reached = shares >= THERE
    after = np.maximum(reached.argmax(-1), 1)[..., None]
    low, high = (np.take_along_axis(shares, at, -1)[..., 0] for at in (after - 1, after))
    part = np.clip((THERE - low) / np.where(high > low, high - low, 1.0), 0, 1)
    logs = np.log1p(np.asarray(steps))
    at = logs[after - 1][..., 0] + part * (logs[after] - logs[after - 1])[..., 0]
    return np.where(reached.any(-1), np.expm1(at), np.nan)


def _gain(
    runs: Sequence[TrainedOutputs], unigrams: Float[np.ndarray, "example 3"], units: Sequence[int], settings: Settings
) -> tuple[float, Float[np.ndarray, " bound"]]:
    """The loss by frequencies minus that of a way, with the errors over seeds and over held-out units."""
    gains = np.stack([unigrams[:, 0] - run.outputs[:, 0] for run in runs]).astype(np.float64)  # [seed, example]
    number = unigrams[:, 1]
    by_seed = gains.sum(1) / number.sum()
    draws = poisson_draws(units, settings.seed, settings.resamples)
    drawn = draws @ number
    resampled = (draws @ gains.mean(0))[drawn > 0] / drawn[drawn > 0]
    mean = by_seed.mean()
    seeds, inputs = over_seeds(by_seed, least=2), interval(resampled, len(set(units)))
    half = np.hypot(seeds - mean, inputs - mean)
    return float(mean), mean + half * np.array([-1, 1])
