"""Predictions of each layer as labelled variables of a result."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units, of_differences
from headscope.studies.layers.lens import STUDY
from headscope.studies.layers.lens.predictions import LENSES, LayerPredictions


def to_variables(
    predictions: LayerPredictions, units: Int[np.ndarray, " text"], most_frequent: int | None, seed: int, resamples: int
) -> Variables:
    """All numbers of the predictions of a corpus.

    * `units`: what texts are resampled with; `most_frequent`: the most frequent piece of other texts, if there are any.
    """
    lenses, spaces, _ = predictions.top.shape
    coords = {"lens": list(LENSES[:lenses]), "space": list(range(spaces))}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    settling = predictions.settling
    settled = (settling[:, None] <= np.arange(spaces)[:, None]).astype(float)
    unit_of_case = units[predictions.text]
    values = {"right": predictions.right, "final_first": predictions.final_first, "settled": settled}
    for name, cases in values.items():
        _add(variables, name, mean_of_cases(cases, unit_of_case, seed, resamples, of_answers=True))
    right = predictions.right
    gains = {"right_change": right - right[:, -1:]}
    if most_frequent is not None:
        constant = (predictions.target == most_frequent).astype(float)
        share = mean_of_cases(constant, unit_of_case, seed, resamples, of_answers=True)
        _add(variables, "right_most_frequent", share)
        gains["right_gain"] = right[0, -1] - constant
    for name, cases in gains.items():
        gain = mean_of_cases(cases, unit_of_case, seed, resamples)
        variables.add(name, gain.mean, interval=of_differences(gain.interval, gain.units))
    rank = mean_of_cases(np.log(predictions.rank), unit_of_case, seed, resamples)
    bounds = np.exp(rank.interval)
    variables.add("final_rank", np.exp(rank.mean), interval=bounds)
    _add(variables, "final_divergence", mean_of_cases(predictions.divergence, unit_of_case, seed, resamples))
    _add(variables, "settling_layer", mean_of_cases(settling.astype(float), unit_of_case, seed, resamples))
    return variables


def add_agreement(
    variables: Variables,
    right: Mapping[str, Float[np.ndarray, "lens space item"]],
    lemmas: Mapping[str, Sequence[int]],
    seed: int,
    resamples: int,
) -> Variables:
    """Add the items won at each space by condition; `lemmas` are the numbers that items are resampled with.

    A condition is a class of items, such as the number of attractors.
    """
    coords = {**variables.coords, "condition": list(right)}
    added = Variables(coords, STUDY.source, STUDY.labels)
    scores = [
        mean_of_cases(cases, np.array(lemmas[name]), seed, resamples, of_answers=True) for name, cases in right.items()
    ]
    counts = Count([score.count for score in scores], "items of a condition", "items", ("condition",))
    values, bounds = np.stack([score.mean for score in scores], -1), np.stack([score.interval for score in scores], -2)
    added.add("agreement", values, interval=bounds, count=counts)
    variables.arrays.update(added.arrays)
    return variables


def mean_of_cases(
    cases: Float[np.ndarray, "*dims case"],
    units: Int[np.ndarray, " case"],
    seed: int,
    resamples: int,
    *,
    of_answers: bool = False,
) -> Score:
    """The mean over cases; all cases of a unit (a text, a document, a lemma) are drawn together.

    * `of_answers`: whether cases are zeros and ones.

    >>> mean_of_cases(np.array([[0.0, 1.0, 1.0, 1.0]]), np.array([0, 0, 1, 1]), 0, 50).mean.tolist()
    [0.75]
    """
    present, row = np.unique(units, return_inverse=True)
    flat = cases.reshape(-1, cases.shape[-1])
    sums = np.stack(
        [np.bincount(row, values_of_case, len(present)) for values_of_case in flat], axis=1
    )  # [unit, value]
    sizes, draws = np.bincount(row, minlength=len(present)), poisson_draws(present, seed, resamples)
    counts = draws @ sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = (draws @ sums) / counts[:, None]
    shape = cases.shape[:-1]
    return Score(
        flat.mean(-1).reshape(shape),
        resampled.reshape(resamples, *shape),
        len(row),
        float(effective_units(counts)),
        of_answers,
    )


def _add(variables: Variables, name: str, score: Score) -> xr.DataArray:
    counts = Count(score.count, "predictions", "predictions")
    return variables.add(name, score.mean, interval=score.interval, count=counts if name == "right" else None)
