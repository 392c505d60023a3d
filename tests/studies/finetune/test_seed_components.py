"""Kinds of seeds, several runs and heads of all runs: planted effects, and refusals of designs."""

from typing import Any

import numpy as np
import pytest

from headscope import HeadscopeError
from headscope.statistics.rank_correlation import jackknife, spearman
from headscope.studies.training.finetune.design import SeedDesign
from headscope.studies.training.finetune.head_agreement import head_agreement
from headscope.studies.training.finetune.seeds import best_of_runs, early_stopping, seed_components

FIVE: dict[str, Any] = {"weight_seeds": 5, "order_seeds": 5}


@pytest.mark.parametrize("latin", [False, True])
def test_a_planted_seed_of_new_weights_is_found_and_no_seed_of_the_order(latin: bool) -> None:
    rng = np.random.default_rng(0)
    pairs = SeedDesign(**FIVE, seed_pairing="latin" if latin else "all").pairs(0)
    by_run = np.array([[0.05 * weights + rng.normal(0, 0.005)] for weights, _ in pairs])
    resamples = by_run + rng.normal(0, 0.02, (500, 1, 1))
    made = seed_components(pairs, by_run, resamples, 400)
    weights, order, rest, examples = made["seed_deviation"][0]
    assert weights == pytest.approx(0.05 * np.std(np.arange(5), ddof=1), rel=0.1)
    assert order < 0.01 and rest == pytest.approx(0.005, rel=0.5) and examples == pytest.approx(0.02, rel=0.1)
    p_weights, p_order, *_ = made["seed_p"][0]
    assert p_weights < 1e-6 < 0.01 < p_order
    bounds = made["seed_deviation_ci"][0]
    assert (bounds[:, 0] <= made["seed_deviation"][0]).all() and (bounds[:, 1] >= made["seed_deviation"][0]).all()


def test_each_seed_of_a_latin_square_has_as_many_runs() -> None:
    pairs = np.array(SeedDesign(**FIVE, seed_pairing="latin").pairs(3))
    assert len(pairs) == 15 and {tuple(pair) for pair in pairs} < set(SeedDesign(**FIVE).pairs(3))
    for seeds in pairs.T:
        assert np.bincount(seeds)[3:].tolist() == [3] * 5


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"seeds": 3, "weight_seeds": 2}, "seeds 3: both seeds are set by"),
        (
            {"weight_seeds": 2, "order_seeds": 3, "seed_pairing": "latin"},
            "2 weight seeds and 3 order seeds make no square",
        ),
        ({"seeds": 2, "seed_pairing": "latin"}, "need two kinds of seeds"),
    ],
)
def test_seeds_that_do_not_fit_are_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(HeadscopeError, match=reason):
        SeedDesign(**given).pairs(0)


def test_single_seeds_of_a_kind_have_no_components() -> None:
    pairs = SeedDesign(weight_seeds=3).pairs(0)
    assert seed_components(pairs, np.zeros((3, 1)), np.zeros((9, 3, 1)), 20) == {}
    same = SeedDesign(seeds=3).pairs(0)
    assert seed_components(same, np.arange(3.0)[:, None], np.zeros((9, 3, 1)), 20) == {}


def test_stopping_is_judged_by_the_main_metric_after_a_third_of_the_epochs() -> None:
    last = np.array([[0.6, 0.1], [0.9, 0.2], [0.7, 0.4], [0.7, 0.3]])
    early = np.array([0.5, 0.1, 0.4, 0.3])
    scores = np.stack([np.stack([early, early], 1), last, last], axis=1)  # [run, epoch, metric]
    made = early_stopping(scores, last, np.ones(1))
    assert made["stopping_loss"] == pytest.approx(np.array([[0.2, 0.2, 0.3], [0.0, 0.0, 0.3]]))
    assert early_stopping(scores[:3], last[:3], np.ones(1)) == early_stopping(scores[:, :1], last, np.ones(1)) == {}
    assert best_of_runs(last, np.ones(1))["expected_best"][:, 0] == pytest.approx(last.mean(0))


def test_agreement_of_heads_is_the_mean_over_pairs_of_runs() -> None:
    rng = np.random.default_rng(0)
    runs = [
        {
            "importance": rng.random(12),
            "similarity": np.arange(12.0),
            "focus": rng.random((12, 6)),
            "heads": [4, 8],
            "entropy": -np.arange(12.0),
        }
        for _ in range(4)
    ]
    made = head_agreement(runs)  # type: ignore[arg-type]
    naive = [
        spearman(np.array(one["importance"]), np.array(other["importance"]))
        for number, one in enumerate(runs)
        for other in runs[:number]
    ]
    assert made["head_agreement"][[0, 1, 3]] == pytest.approx([np.mean(naive), 1.0, 1.0])
    assert made["head_agreement_ci"][1].tolist() == [1.0, 1.0]
    assert made["important_runs"].shape == (2, 8) and np.isnan(made["important_runs"][0, 4:]).all()
    assert np.nansum(made["important_runs"]) == pytest.approx(1.0)  # a head of 12 in each run
    assert head_agreement(runs[:1]) == head_agreement([{}, {}]) == {}  # type: ignore[arg-type]
    assert np.isnan(jackknife(np.ones((2, 2)))).all()
