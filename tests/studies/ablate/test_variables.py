"""What is said of a sweep whose outputs were made by hand."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import false_discovery_control, spearmanr

from headscope import Settings
from headscope.ablation.sweep import Sweep
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.statistics.significance import mcnemar
from headscope.studies.size.ablate.variables import Effects

N, HEADS = 60, (3, 2)
TARGETS = (np.arange(N) % 2).astype(float)
SETTINGS = Settings(resamples=60)


def right_on(share: np.ndarray) -> np.ndarray:
    """Outputs [..., example, 2] that are right on this share of the examples, the last ones."""
    right = np.arange(N) >= (1 - share[..., None]) * N
    predicted = np.where(right, TARGETS, 1 - TARGETS)
    return np.where(predicted[..., None] == [0, 1], 1.0, -1.0).astype(np.float32)


def effects(sets: tuple[str, ...] = ("1-1,2-1",), metrics: tuple[str, ...] = ("accuracy", "cross_entropy")) -> Effects:
    heads = right_on(np.array([[0.9, 0.5, 0.75], [0.75, 0.25, 0.0]]))
    heads[1, 2] = np.nan
    corpus = Corpus("made", "", N, {}, partial(iter, []))
    task = Task(name="made", kind="classification", labels=("a", "b"), metrics=("accuracy",), dev=corpus)
    of_sets = right_on(np.array([1.0]))[: len(sets)]
    sweep = Sweep(right_on(np.array(0.75)), heads, right_on(np.array([0.5, 0.75])), of_sets, "by hand")
    return Effects(sweep, task, TARGETS, metrics, HEADS, sets, SETTINGS)


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return xr.Dataset(effects().variables())


def test_scores_and_gains(found: xr.Dataset) -> None:
    accuracy = found.sel(metric="accuracy")
    assert accuracy["baseline"].item() == 0.75
    np.testing.assert_allclose(accuracy["head_score"], [[0.9, 0.5, 0.75], [0.75, 0.25, np.nan]])
    np.testing.assert_allclose(accuracy["head_gain"], accuracy["head_score"] - 0.75)
    np.testing.assert_allclose(accuracy["layer_gain"], [-0.25, 0])
    np.testing.assert_allclose(accuracy["set_gain"].sel(head_set="1-1,2-1"), 0.25)
    np.testing.assert_allclose(accuracy["random_head_gain"], np.nanmean(accuracy["head_gain"]))


def test_a_loss_gains_where_it_falls(found: xr.Dataset) -> None:
    entropy = found.sel(metric="cross_entropy")
    np.testing.assert_allclose(entropy["head_gain"], entropy["baseline"] - entropy["head_score"])
    assert entropy["head_gain"][0, 0] > 0 > entropy["head_gain"][0, 1]


def test_changes_of_accuracy_are_tested_alone_and_together(found: xr.Dataset) -> None:
    one = effects()
    before = one.sweep.plain.argmax(-1) == TARGETS
    heads = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    p = np.array([mcnemar((one.sweep.heads[head].argmax(-1) == TARGETS)[None], before)[0] for head in heads])
    p_values = [found["head_p_value"].values[head] for head in heads]
    np.testing.assert_allclose(p_values, p)
    np.testing.assert_allclose([found["head_q_value"].values[head] for head in heads], false_discovery_control(p))
    assert np.isnan(found["head_p_value"].values[1, 2]) and np.isnan(found["head_q_value"].values[1, 2])


def test_the_best_head_of_a_half_is_tried_on_the_other(found: xr.Dataset) -> None:
    order = np.random.default_rng(SETTINGS.seed).permutation(N)
    halves, one = [np.sort(half) for half in np.array_split(order, 2)], effects()
    assert (found["chosen_head"] == "1-1").all()
    for number, half in enumerate(("first", "second")):
        own, other = halves[number], halves[1 - number]
        for name, examples in (("choosing_gain", own), ("chosen_gain", other)):
            right = [
                (logits[examples].argmax(-1) == TARGETS[examples]).mean()
                for logits in (one.sweep.heads[0, 0], one.sweep.plain)
            ]
            assert found[name].sel(half=half, metric="accuracy").item() == pytest.approx(right[0] - right[1])
    assert found["chosen_gain_n_examples"].item() == N // 2


def test_importance_is_ranked_against_what_is_lost() -> None:
    importance = np.array([[1.0, 5.0, 2.0], [3.0, 4.0, np.nan]])
    arrays = np.stack([importance, -importance], axis=-1)
    coords = {"layer": [1, 2], "head": [1, 2, 3], "estimator": ["one", "other"]}
    given = xr.DataArray(arrays, coords, ("layer", "head", "estimator"))
    correlations = effects().rank_correlation(given)
    lost = -np.array([0.15, -0.25, 0, 0, -0.5])
    correlated: Any = spearmanr([1.0, 5, 2, 3, 4], lost)
    expected = correlated.statistic
    values = correlations["rank_correlation"].sel(metric="accuracy")
    assert values.sel(estimator="one").item() == pytest.approx(expected)
    assert values.sel(estimator="other").item() == pytest.approx(-expected)
    bounds = correlations["rank_correlation_ci"].sel(metric="accuracy", estimator="one")
    assert bounds[0] - 1e-9 <= expected <= bounds[1] + 1e-9


def test_without_sets_or_halves_there_are_no_variables_of_them() -> None:
    one = effects(sets=())
    assert not [name for name in one.variables() if name.startswith("set_")]
    few = Effects(
        Sweep(one.sweep.plain[:3], one.sweep.heads[:, :, :3], one.sweep.layers[:, :3], np.empty((0,)), ""),
        replace(one.task, dev=replace(one.task.dev, n_examples=3)), TARGETS[:3], ("accuracy",), HEADS, (), SETTINGS,
    )  # fmt: skip
    assert "chosen_gain" not in few.variables()
