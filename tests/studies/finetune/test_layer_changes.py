"""Layers in trainings: the way of their weights, their change, and what the page says of the last one."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.stats import t

from headscope.report.numbers import Numbers
from headscope.statistics.runs import over_seeds
from headscope.studies.training.finetune import STUDY
from headscope.studies.training.finetune.layer_changes import layer_changes
from headscope.studies.training.finetune.layer_findings import last_layers
from headscope.training import TrainedOutputs

EMPTY = TrainedOutputs(np.zeros((2, 2)), np.zeros((1, 2, 2)), np.zeros(16, np.float32))


def trained(changes: list[float], updates: list[float]) -> TrainedOutputs:
    """A training of 16 steps, of which two are recorded, whose layers have these updates at each step."""
    one = np.array([np.ones(len(updates)), updates, np.full(len(updates), 2.0)], np.float32)
    norms = np.repeat(one[:, None], 2, axis=1)
    return replace(EMPTY, layer_norms=norms, attention_change=np.array(changes, np.float32))


def test_changes_are_divided_by_the_way() -> None:
    runs = [trained([0.1, 0.2, 0.6], [0.1, 0.1, 0.2]), trained([0.1, 0.2, 0.8], [0.1, 0.1, 0.2])]
    values = layer_changes(runs)
    assert values["update_path"] == pytest.approx([0.8, 0.8, 1.6])  # 16 steps of 0.05, 0.05 and 0.1
    assert values["change_per_update"] == pytest.approx([0.125, 0.25, 0.4375])
    assert values["last_layer_change"] == pytest.approx((np.log(0.6 / 0.15) + np.log(0.8 / 0.15)) / 2)
    assert np.isnan(values["last_layer_per_update_ci"]).all()


def test_intervals_over_seeds_are_those_of_the_t_distribution() -> None:
    values = np.random.default_rng(0).normal(size=(5, 3))
    half = t.ppf(0.975, 4) * values.std(0, ddof=1) / 5**0.5
    np.testing.assert_allclose(over_seeds(values), np.stack([values.mean(0) - half, values.mean(0) + half], -1))


def test_a_training_without_records_has_no_values() -> None:
    assert layer_changes([EMPTY]) == {}


def made(runs: list[TrainedOutputs]) -> xr.Dataset:
    """The result of these seeds."""
    variables = {}
    for name, values in layer_changes(runs).items():
        dims = STUDY.labels[name.removesuffix("_ci")].dims + ("bound",) * name.endswith("_ci")
        variables[name] = (dims, np.asarray(values)[None, None], {"long_name": name, "units": ""})
    coords = {"task": ["birds"], "init": ["finetuned"], "layer": [1, 2, 3], "bound": ["lower", "upper"]}
    result = xr.Dataset(variables, coords | {"seed": list(range(len(runs)))})
    result["score_n_examples"] = (("task", "init"), [[200]])
    return result


def page(runs: list[TrainedOutputs]) -> list[tuple[str, str | None]]:
    """What the page says of these seeds."""
    return [(finding.topic, finding.verdict) for finding in last_layers(Numbers(made(runs)))]


def test_the_page_tells_updates_from_attention() -> None:
    """The last layer changes more, but only as much as its updates: the others change more for theirs."""
    runs = [trained([0.1, 0.2, 0.6 + noise], [0.01, 0.02, 0.3]) for noise in (0.0, 0.01, 0.02)]
    assert [verdict for _, verdict in page(runs)] == ["holds", "fails"]


def test_one_seed_decides_nothing() -> None:
    assert {verdict for _, verdict in page([trained([0.1, 0.2, 0.6], [0.1, 0.1, 0.1])])} == {"undecided"}


def test_pairs_of_seeds_are_counted_as_the_runs_that_they_are() -> None:
    result = made([trained([0.1, 0.2, 0.6 + noise], [0.01, 0.02, 0.3]) for noise in (0.0, 0.01, 0.02, 0.03)])
    result = result.isel(seed=[0, 1]).assign_coords(order_seed=[0, 1], metric=["accuracy"])
    dims = ("task", "init", "seed", "order_seed", "metric")
    result["score_by_pair"] = (dims, np.full((1, 1, 2, 2, 1), 0.5))
    texts = [finding.text for finding in last_layers(Numbers(result))]
    assert texts and all(text.endswith("the mean of the others; 4 runs.") for text in texts)
