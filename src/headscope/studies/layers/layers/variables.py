"""Scores of probing classifiers as labelled variables of a result."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Variables
from headscope.results.vocabulary import PIECES
from headscope.statistics.intervals import ONE_UNIT, Score, interval, mean_of
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.layers.layers import ELAZAR, STUDY, WIEDEMANN
from headscope.studies.layers.layers.measure import MeasuredTask, p_value
from headscope.studies.layers.layers.removal import Removal
from headscope.studies.layers.layers.scalar_mix import (
    centre_of_gravity,
    concentration,
    expected_layer,
    gain_concentration,
)
from headscope.studies.layers.layers.senses import MeasuredSenses
from headscope.studies.layers.layers.tasks import ProbingTask

ALL = slice(None)
LAYERS = slice(1, None)
LEAST_WITH_GAIN = 0.975


def to_variables(
    tasks: Sequence[ProbingTask], trained: Mapping[str, MeasuredTask], random: Mapping[int, Mapping[str, MeasuredTask]]
) -> dict[str, xr.DataArray]:
    """The scores of all tasks in all layers, baselines, random weights by seed, controls, codes and mixes."""
    measured = [trained[task.name] for task in tasks]
    spaces = len(measured[0].score.mean)
    coords = {"task": [task.name for task in tasks], "space": list(range(spaces)), "seed": list(random)}
    coords["pieces"] = list(PIECES)
    variables = Variables(coords, STUDY.source, STUDY.labels)
    _add_scores(variables, measured)
    if random:
        by_seed = [[scores[task.name].score[LAYERS] for task in tasks] for scores in random.values()]
        _add(variables, "score_random", [mean_of(of_task) for of_task in zip(*by_seed, strict=True)])
        variables.add("score_random_by_seed", [[score.mean for score in scores] for scores in by_seed])
    _add_gains(variables, measured)
    if any(task.control for task in measured):
        _add(variables, "control", [_or_nothing(task.control, spaces, LAYERS) for task in measured])
        _add(variables, "selectivity", [_or_nothing(task.selectivity, spaces, LAYERS) for task in measured])
    _add_codes(variables, measured)
    _add_mixes(variables, measured, spaces)
    _add_errors(variables, measured, spaces)
    return variables.arrays


def removal_variables(tasks: Sequence[ProbingTask], removals: Mapping[str, Removal]) -> dict[str, xr.DataArray]:
    """What the removal of properties does; NaN of tasks whose property stays."""
    some = next(iter(removals.values()))
    draws, spaces = some.harm_random.shape
    coords = {"task": [task.name for task in tasks], "space": list(range(spaces)), "draw": list(range(1, draws + 1))}
    variables = Variables(coords, ELAZAR, STUDY.labels)
    measured = [removals.get(task.name) for task in tasks]
    for name, scores in {
        "removal_harm": [task and task.harm for task in measured],
        "removal_score_before": [task and task.erasers.before for task in measured],
        "removal_score": [task and task.erasers.after for task in measured],
    }.items():
        _add(variables, name, [_or_nothing(score, spaces, ALL) for score in scores])
    by_draw = [np.full((draws, spaces), np.nan) if task is None else task.harm_random for task in measured]
    variables.add("removal_harm_random", np.stack(by_draw, 1))
    ranks = [
        [np.nan] * spaces if task is None else [maps[0].rank for maps in task.erasers.by_space] for task in measured
    ]
    variables.add("removal_rank", ranks)
    count = Count(some.loss.count, "predictions of words", "predictions")
    variables.add("word_loss", some.loss.mean[0], interval=some.loss.interval[0], count=count)
    return variables.arrays


def sense_variables(senses: MeasuredSenses, random: Mapping[int, MeasuredSenses]) -> dict[str, xr.DataArray]:
    """The nearest neighbour beside the most frequent sense, and the silhouettes of senses, also with random weights."""
    coords = {"space": list(range(len(senses.gain.mean))), "seed": list(random)}
    variables = Variables(coords, WIEDEMANN, STUDY.labels)
    variables.add("sense_gain", senses.gain.mean, interval=senses.gain.interval)
    count = Count(senses.silhouette.count, "cases of senses with two or more", "cases")
    variables.add("sense_silhouette", senses.silhouette.mean, interval=senses.silhouette.interval, count=count)
    if random:
        variables.add("sense_silhouette_random", [other.silhouette.mean for other in random.values()])
    variables.add("unseen_senses", senses.unseen)
    return variables.arrays


def _add(variables: Variables, name: str, scores: Sequence[Score], count: Count | None = None) -> None:
    """Add the scores of all tasks, by the second dimension of the variable if it has one."""
    values, bounds = np.stack([score.mean for score in scores]), np.stack([score.interval for score in scores])
    shape = (len(scores), -1)[: len(STUDY.labels[name].dims)]
    variables.add(name, values.reshape(shape), interval=bounds.reshape(*shape, 2), count=count)


def _add_scores(variables: Variables, measured: Sequence[MeasuredTask]) -> None:
    cases = Count([task.report_cases for task in measured], "cases with score of a classifier", "cases", ("task",))
    _add(variables, "score", [task.score[LAYERS] for task in measured], cases)
    _add(variables, "score_embeddings", [task.score[slice(0, 1)] for task in measured])
    _add(variables, "score_majority", [task.majority for task in measured])
    variables.add("choice_score", np.stack([task.trained.choice[LAYERS] for task in measured]))
    variables.add("penalty", np.stack([task.trained.penalty[LAYERS] for task in measured]))
    variables.add("chosen_layer", [task.chosen for task in measured])
    variables.add("training_cases", [task.train_cases for task in measured])


def _add_gains(variables: Variables, measured: Sequence[MeasuredTask]) -> None:
    gains = [task.score[slice(task.chosen, task.chosen + 1)] - task.score[slice(0, 1)] for task in measured]
    _add(variables, "gain", gains)
    falls = [task.score[slice(task.chosen, task.chosen + 1)] - task.score[slice(-1, None)] for task in measured]
    _add(variables, "last_layer_fall", falls)
    p = np.concatenate([p_value(gain) for gain in gains])
    variables.add("p_value", p)
    variables.add("q_value", benjamini_hochberg(p))


def _add_codes(variables: Variables, measured: Sequence[MeasuredTask]) -> None:
    code = np.stack([task.trained.code for task in measured])
    if np.isfinite(code).any():
        uniform = np.array([task.trained.uniform for task in measured])
        variables.add("code_length", code[:, 1:] / 1000)
        variables.add("code_uniform", uniform / 1000)
        variables.add("compression", uniform[:, None] / code[:, 1:])
        variables.add("compression_embeddings", uniform / code[:, 0])


def _add_mixes(variables: Variables, measured: Sequence[MeasuredTask], spaces: int) -> None:
    if not any(task.cumulative for task in measured):
        return
    scores = [_or_nothing(task.cumulative, spaces, ALL) for task in measured]
    _add(variables, "cumulative_score", scores)
    gains = [score[slice(-1, None)] - task.score[slice(-1, None)] for score, task in zip(scores, measured, strict=True)]
    _add(variables, "mix_gain", gains)
    nothing = np.full(spaces, np.nan)
    weights = np.stack([nothing if task.mix is None else task.mix for task in measured])
    variables.add("mix_weight", weights)
    variables.add("centre_of_gravity", centre_of_gravity(weights))
    variables.add("mix_concentration", concentration(weights))
    means = np.stack([score.mean for score in scores])
    for name, number in (("expected_layer", expected_layer), ("gain_concentration", gain_concentration)):
        bounds = np.stack([interval_of_gains(score, number) for score in scores])
        variables.add(name, number(means), interval=bounds)


def _add_errors(variables: Variables, measured: Sequence[MeasuredTask], spaces: int) -> None:
    """Errors of values of numbers by their pieces, where there is such a task: of layers, embeddings, and the mean."""
    if not any(task.by_pieces for task in measured):
        return
    nothing = [_or_nothing(None, spaces + 1, ALL)] * len(PIECES)
    scores = [task.by_pieces or nothing for task in measured]
    means, bounds = (
        np.array([[getattr(one, name) for one in of_task] for of_task in scores]) for name in ("mean", "interval")
    )  # [task, pieces, space], [task, pieces, space, bound]
    counts = [[one.count for one in of_task] for of_task in scores]
    cases = Count(counts, "tested cases by the pieces of their numbers", "cases", ("task", "pieces"))
    layers = slice(1, spaces)
    of_layers = np.moveaxis(means[..., layers], 1, 2), np.moveaxis(bounds[..., layers, :], 1, 2)
    variables.add("error_by_pieces", of_layers[0], interval=of_layers[1], count=cases)
    for name, space in (("embeddings", 0), ("mean", spaces)):
        variables.add(f"error_by_pieces_{name}", means[..., space], interval=bounds[..., space, :])


def interval_of_gains(
    cumulative: Score, number: Callable[[np.ndarray], np.ndarray] = expected_layer
) -> Float[np.ndarray, " bound"]:
    """The 95% interval of a number of the gains; NaN where more than 2.5% of the resamples show no gain at all."""
    resampled = cumulative.resampled
    gains = resampled[:, -1] > resampled[:, 0]
    if not gains.mean() >= LEAST_WITH_GAIN or cumulative.units < ONE_UNIT:
        return np.full(2, np.nan)
    return interval(number(resampled[gains]), cumulative.units)


def _or_nothing(score: Score | None, spaces: int, some: slice) -> Score:
    """A score in some of the spaces, NaN where there is none."""
    if score is None:
        score = Score(np.full(spaces, np.nan), np.full((1, spaces), np.nan), 0)
    return score[some]
