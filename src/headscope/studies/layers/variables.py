"""Scores of probing classifiers as labelled variables of a result."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables
from headscope.statistics.resampled import Score
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.layers.measure import MeasuredTask
from headscope.studies.layers.scalar_mix import centre_of_gravity, expected_layer
from headscope.studies.layers.scores import p_value
from headscope.studies.layers.tasks.task import ProbingTask

SHARE = "share of cases, or of variance"
HEWITT, VOITA = "Hewitt and Liang 2019, section 3", "Voita and Titov 2020, section 2.2"
TENNEY = "Tenney et al. 2019, section 3"
ALL = slice(None)
LAYERS = slice(1, None)
Of = Callable[[MeasuredTask], Score | None]


def to_variables(
    tasks: Sequence[ProbingTask], trained: Mapping[str, MeasuredTask], random: Mapping[str, MeasuredTask] | None
) -> dict[str, xr.DataArray]:
    """The scores of all tasks in all layers, baselines, controls, codes and mixes."""
    every = [trained[task.name] for task in tasks]
    spaces = len(every[0].score.mean)
    labels = {"task": [task.name for task in tasks], "space": list(range(spaces))}
    variables = Variables(labels, "Tenney et al. 2019; Liu et al. 2019; Conneau et al. 2018")
    _add_scores(variables, every)
    if random is not None:
        of_random = [random[task.name] for task in tasks]
        words = "score of a classifier, for a model with random weights"
        _add(variables, "score_random", [each.score[LAYERS] for each in of_random], "layer", words)
    _add_gains(variables, every)
    _add_controls(variables, every, spaces)
    _add_codes(variables, every)
    _add_mixes(variables, every, spaces)
    return variables.arrays


def _add(
    variables: Variables, name: str, scores: Sequence[Score], dim: str, long_name: str, source: str | None = None,
    count: Count | None = None,
) -> None:  # fmt: skip
    values, bounds = np.stack([each.mean for each in scores]), np.stack([each.interval for each in scores])
    dims = ("task", dim) if dim else ("task",)
    shape = (len(scores), -1) if dim else (len(scores),)
    variables.add(
        name,
        values.reshape(shape),
        dims,
        long_name=long_name,
        units=SHARE,
        source=source,
        interval=bounds.reshape(*shape, 2),
        count=count,
    )


def _add_scores(variables: Variables, every: Sequence[MeasuredTask]) -> None:
    cases = Count([each.report_cases for each in every], "cases with score of a classifier", "cases", ("task",))
    words = "score of a linear classifier"
    _add(variables, "score", [each.score[LAYERS] for each in every], "layer", words, count=cases)
    _add(variables, "score_embeddings", [each.score[slice(0, 1)] for each in every], "", f"{words} of the embeddings")
    _add(
        variables, "score_majority", [each.majority for each in every], "", "score of the most frequent answer, or mean"
    )
    choice = np.stack([each.trained.choice[LAYERS] for each in every])
    long_name = f"{words} on cases for choices"
    variables.add("choice_score", choice, ("task", "layer"), long_name=long_name, units=SHARE)
    penalty = np.stack([each.trained.penalty[LAYERS] for each in every])
    long_name = "penalty of the squared weights, chosen on cases for choices"
    variables.add("penalty", penalty, ("task", "layer"), long_name=long_name, units="1")
    layers = [each.chosen for each in every]
    long_name = "layer with the best score on cases for choices"
    variables.add("chosen_layer", layers, ("task",), long_name=long_name, units="layer")
    numbers = [each.train_cases for each in every]
    variables.add("training_cases", numbers, ("task",), long_name="training cases", units="cases")


def _add_gains(variables: Variables, every: Sequence[MeasuredTask]) -> None:
    gains = [each.score[slice(each.chosen, each.chosen + 1)] - each.score[slice(0, 1)] for each in every]
    _add(variables, "gain", gains, "", "gain of the chosen layer on the embeddings")
    p = np.concatenate([p_value(each) for each in gains])
    long_name = "p-value of no gain on the embeddings (bootstrap, one-sided)"
    variables.add("p_value", p, ("task",), long_name=long_name, units="probability")
    long_name = "false discovery rate of a gain on the embeddings (Benjamini-Hochberg)"
    variables.add("q_value", benjamini_hochberg(p), ("task",), long_name=long_name, units="rate")


def _add_controls(variables: Variables, every: Sequence[MeasuredTask], spaces: int) -> None:
    if any(each.control for each in every):
        controls = [_or_nothing(each.control, spaces, LAYERS) for each in every]
        _add(variables, "control", controls, "layer", "score on a control task with random answers", HEWITT)
        selectivity = [_or_nothing(each.selectivity, spaces, LAYERS) for each in every]
        _add(variables, "selectivity", selectivity, "layer", "score less that on the control task", HEWITT)


def _add_codes(variables: Variables, every: Sequence[MeasuredTask]) -> None:
    code = np.stack([each.trained.code for each in every])
    if np.isfinite(code).any():
        uniform = np.array([each.trained.uniform for each in every])
        long_name = "online code of the training answers"
        variables.add(
            "code_length", code[:, 1:] / 1000, ("task", "layer"), long_name=long_name, units="kilobits", source=VOITA
        )
        long_name = "uniform code of the training answers"
        variables.add("code_uniform", uniform / 1000, ("task",), long_name=long_name, units="kilobits", source=VOITA)
        long_name = "uniform code divided by online code"
        variables.add(
            "compression",
            uniform[:, None] / code[:, 1:],
            ("task", "layer"),
            long_name=long_name,
            units="ratio",
            source=VOITA,
        )
        long_name = "uniform code divided by online code, of the embeddings"
        variables.add(
            "compression_embeddings", uniform / code[:, 0], ("task",), long_name=long_name, units="ratio", source=VOITA
        )


def _add_mixes(variables: Variables, every: Sequence[MeasuredTask], spaces: int) -> None:
    if not any(each.cumulative for each in every):
        return
    scores = [_or_nothing(each.cumulative, spaces, ALL) for each in every]
    _add(variables, "cumulative_score", scores, "space", "score of a mix of the spaces up to this one", TENNEY)
    nothing = np.full(spaces, np.nan)
    weights = np.stack([nothing if each.mix is None else each.mix for each in every])
    long_name = "weight of a space in the scalar mix of all"
    variables.add("mix_weight", weights, ("task", "space"), long_name=long_name, units="share", source=TENNEY)
    centre = centre_of_gravity(weights)
    long_name = "centre of gravity of the scalar mix, 0 for the embeddings"
    variables.add("centre_of_gravity", centre, ("task",), long_name=long_name, units="layer", source=TENNEY)
    expected = expected_layer(np.stack([each.mean for each in scores]))
    long_name = "expected layer, by the gains of cumulative scores"
    variables.add("expected_layer", expected, ("task",), long_name=long_name, units="layer", source=TENNEY)


def _or_nothing(score: Score | None, spaces: int, some: slice) -> Score:
    """A score in some of the spaces, NaN where there is none."""
    if score is None:
        score = Score(np.full(spaces, np.nan), np.full((1, spaces), np.nan), 0)
    return score[some]
