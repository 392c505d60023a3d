"""What divergences of pairs come to, on numbers that can be seen to be right; layers may differ in their heads."""

import numpy as np
import pytest

from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.studies.heads.clusters import head_distances as module
from headscope.studies.heads.clusters.head_distances import HeadPairs, groups

# Layer 1 has heads at 0, 1 and 2 of a line, layer 2 at 10 and 14.
HEADS, PLACES = (3, 2), np.array([0.0, 1, 2, 10, 14])
MATRIX = np.abs(PLACES[:, None] - PLACES)
PAIRS = MATRIX[np.triu_indices(5, 1)]


def tally_of(*scales: float) -> Tally:
    """Of examples whose divergences are these multiples."""
    values = np.outer(scales, PAIRS)
    return tally(values, np.ones(len(scales), dtype=bool), poisson_draws(range(len(scales)), 0, 200))


def test_pairs_stand_at_their_layers_and_heads_and_missing_heads_have_none() -> None:
    variables = HeadPairs(tally_of(1, 3), HEADS).variables
    divergence = variables["divergence"]
    assert dict(divergence.sizes) == {"layer": 2, "head": 3, "other_layer": 2, "other_head": 3}
    existing = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]
    for one, head in enumerate(existing):
        for other, its in enumerate(existing):
            labels = dict(zip(divergence.dims, (*head, *its), strict=True))
            assert float(divergence.sel(labels)) == 2 * MATRIX[one, other]
    assert divergence.sel(layer=2, head=3).isnull().all() and divergence.sel(other_layer=2, other_head=3).isnull().all()
    assert int(variables["divergence_n_examples"]) == 2


def test_layers_and_the_gap() -> None:
    variables = HeadPairs(tally_of(1), HEADS).variables
    np.testing.assert_allclose(variables["layer_divergence"], [[4 / 3, 11], [11, 4]])
    assert float(variables["within_layer"]) == pytest.approx((1 + 1 + 2 + 4) / 4)
    assert float(variables["between_layers"]) == pytest.approx(11)
    assert float(variables["layer_gap"]) == pytest.approx(9)
    # Of the 10 ways to put five heads into layers of 3 and 2 this one has the largest gap.
    assert float(variables["layer_gap_p_value"]) == pytest.approx(0.1, abs=0.03)


def test_intervals_are_those_of_resampled_examples_also_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    its = tally_of(1, 2, 6)
    expected = its.interval
    monkeypatch.setattr(module, "TOGETHER", 3)
    bounds = HeadPairs(its, HEADS).variables["divergence_ci"]
    pair = {"layer": 1, "head": 2, "other_layer": 2, "other_head": 1}
    np.testing.assert_allclose(bounds.sel(pair), expected[5])
    np.testing.assert_allclose(bounds.sel(layer=2, head=1, other_layer=1, other_head=2), expected[5])
    gap = HeadPairs(its, HEADS).variables["layer_gap_ci"]
    np.testing.assert_allclose(gap, 9 * expected[0])  # all pairs grow together, and the first is 1 apart


def test_sums_are_means_times_examples() -> None:
    mean, total = (HeadPairs(tally_of(1, 3), HEADS, summed=summed).variables for summed in (False, True))
    for name in ("divergence", "divergence_ci", "layer_divergence", "layer_gap", "layer_gap_ci"):
        np.testing.assert_allclose(total[name], 2 * mean[name])
    assert float(total["layer_gap_p_value"]) == float(mean["layer_gap_p_value"])


def test_groups_of_resamples_agree_where_examples_do_and_not_where_they_do_not() -> None:
    steady = HeadPairs(tally_of(1, 1, 1), HEADS)
    value, bounds = steady.stability(groups(steady.matrix, 2))
    assert value == 1 and bounds.tolist() == [1, 1]
    values = np.random.default_rng(0).random((4, 66))
    noise = HeadPairs(tally(values, np.ones(4, dtype=bool), poisson_draws(range(4), 0, 60)), (12,))
    value, bounds = noise.stability(groups(noise.matrix, 4))
    assert value < 0.9 and bounds[0] < value


@pytest.mark.parametrize("heads", [(4,), (1,), (1, 1)])
def test_without_both_kinds_of_pairs_there_is_no_gap(heads: tuple[int, ...]) -> None:
    number = sum(heads) * (sum(heads) - 1) // 2
    its = tally(np.ones((2, number)), np.ones(2, dtype=bool), np.ones((5, 2)))
    variables = HeadPairs(its, heads).variables
    assert "layer_gap" not in variables and np.isnan(variables["layer_gap_p_value"])
    assert variables["divergence"].shape == (len(heads), max(heads)) * 2
