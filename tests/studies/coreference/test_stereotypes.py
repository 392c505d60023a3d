"""Gaps between the two sentences of a pair."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

from headscope.statistics.bootstrap import effective_units, interval, poisson_draws
from headscope.studies.coreference import question_variables
from headscope.studies.coreference.stereotypes import Pairs, pairs
from support.made_mentions import rows

NUMBER = 60


@pytest.fixture(scope="module")
def found() -> Pairs:
    """Head 1 tells the genders apart in attention and in what it prefers, head 2 in nothing, head 3 never moves."""
    random = np.random.default_rng(0)
    toward = np.repeat(random.random((NUMBER, 1, 3)), 2, axis=1) * 0.5
    toward[:, 0, 0] += random.normal(0.1, 0.05, NUMBER)
    toward[:, :, 1] += random.normal(0, 0.05, (NUMBER, 2))
    right = random.random((NUMBER, 2, 3)) < 0.5
    right[:30, 0, 0], right[:30, 1, 0], right[:, 1, 2] = True, False, right[:, 0, 2]
    units = np.repeat(np.arange(NUMBER), 2)
    names = [f"pair {number}" for number in units]
    cases = rows(
        units,
        right.reshape(-1, 3),
        toward=toward.reshape(-1, 3),
        first=np.ones(2 * NUMBER, bool),
        stereotype=["pro", "anti"] * NUMBER,
        pair=names,
    )
    return pairs(cases, 3)


def test_gaps_are_differences_within_pairs(found: Pairs) -> None:
    draws = poisson_draws(range(NUMBER), 0, 50).astype(np.uint8)
    result = question_variables.stereotype_variables(found, draws, (3,))
    pro, anti = found.pro.toward, found.anti.toward
    np.testing.assert_allclose(result["attention"].sel(layer=1), np.stack([pro.mean(0), anti.mean(0)], -1))
    np.testing.assert_allclose(result["attention_gap"].sel(layer=1), (pro - anti).mean(0), atol=1e-12)
    drawn = [np.repeat(pro - anti, row, axis=0).mean(0) for row in draws]
    bounds = interval(np.array(drawn), effective_units(draws.sum(1)))
    np.testing.assert_allclose(result["attention_gap_ci"].sel(layer=1), bounds, atol=1e-12)
    np.testing.assert_allclose(
        result["preference_gap"].sel(layer=1), found.pro.unpacked(3).mean(0) - found.anti.unpacked(3).mean(0)
    )
    assert int(result["attention_n_examples"]) == NUMBER


def test_only_the_head_that_tells_the_genders_apart_has_a_gap(found: Pairs) -> None:
    result = question_variables.stereotype_variables(found, poisson_draws(range(NUMBER), 0, 5).astype(np.uint8), (3,))
    assert (result["attention_gap_q"].sel(layer=1) < 0.05).values.tolist() == [True, False, False]
    assert (result["preference_gap_q"].sel(layer=1) < 0.05).values.tolist() == [True, False, False]
    assert result["attention_gap"].sel(head=3).item() == 0


def test_tests_are_paired(found: Pairs) -> None:
    p = found.attention_p()
    np.testing.assert_allclose(p[:2], ttest_rel(found.pro.toward[:, :2], found.anti.toward[:, :2]).pvalue)
    assert p[2] == 1
    ours, theirs = (each.unpacked(3)[:, 0].astype(bool) for each in (found.pro, found.anti))
    gained, lost = int((ours & ~theirs).sum()), int((~ours & theirs).sum())
    np.testing.assert_allclose(found.preferred_p()[0], binomtest(gained, gained + lost).pvalue)


def test_what_is_preferred_is_the_first_candidate_also_where_the_other_is_right() -> None:
    both = rows([0, 0], np.array([[1, 0], [1, 0]]), stereotype=["pro", "anti"], pair=["x", "x"], first=[True, False])
    assert pairs(both, 2).preferred.tolist() == [[[1, 0], [0, 1]]]


def test_partners_are_found_in_any_order_and_without_one_a_sentence_is_left_out() -> None:
    made = rows(
        [0, 0, 1, 2, 2],
        np.array([[1], [0], [1], [0], [1]]),
        stereotype=["anti", "pro", "pro", "", "anti"],
        pair=["x", "x", "y", "z", "z"],
    )
    found = pairs(made, 1)
    assert len(found) == 1
    assert (found.pro.unit.tolist(), found.pro.unpacked(1).tolist()) == ([0], [[0]])
