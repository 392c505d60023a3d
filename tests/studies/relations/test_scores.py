"""Scores from what was found, against loops over rows, and heads that are chosen apart from their score."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from scipy.stats import t

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval
from headscope.statistics.split_half import Selection
from headscope.studies.heads.relations.link_attention import MOST_RELATIONS, LinkAttention, with_either
from headscope.studies.heads.relations.scores import best, largest_gain, least_gain, score
from support.made_links import rows

HEADS, INPUTS = 3, 50


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return poisson_draws(range(INPUTS), 0, 200).astype(np.uint8)


@pytest.fixture(scope="module")
def known() -> LinkAttention:
    """Random values; every fifth row has nothing to be compared with."""
    random = np.random.default_rng(0)
    values = random.random((3, INPUTS, HEADS, 2)).astype(np.float32)
    values[1:, ::5] = np.nan
    return LinkAttention(
        np.arange(INPUTS),
        np.arange(INPUTS),
        np.full(INPUTS, 9),
        np.full(INPUTS, "x"),
        np.ones(INPUTS, int),
        values[0],
        *values[1:],
        *np.zeros((2, INPUTS, HEADS, 2)),
    )


def test_means_are_over_rows_and_resampled_with_them(known: LinkAttention, draws: np.ndarray) -> None:
    found = score(known, draws)
    compared = [row for row in range(INPUTS) if row % 5]
    for name, values, its in (
        ("linked", known.linked, range(INPUTS)),
        ("elsewhere", known.elsewhere, compared),
        ("others", known.others, compared),
        ("gain", None, compared),
        ("gain_others", None, compared),
    ):
        tally = getattr(found, name)
        three = with_either(known.linked if values is None else values).astype(np.float64)
        if values is None:
            three = (three - with_either(known.elsewhere if name == "gain" else known.others)).astype(np.float32)
        np.testing.assert_allclose(tally.mean, np.mean([three[row] for row in its], 0), atol=1e-6, err_msg=name)
        assert (tally.count == len(its)).all()
        resampled = [
            sum(three[row].astype(float) * int(draw[row]) for row in its) / sum(int(draw[row]) for row in its)
            for draw in draws
        ]
        expected = interval(np.array(resampled), tally.units)
        np.testing.assert_allclose(tally.interval, expected, atol=1e-6, err_msg=name)


def test_either_is_the_larger_of_the_two(known: LinkAttention, draws: np.ndarray) -> None:
    found = score(known, draws).linked.mean
    np.testing.assert_allclose(found[..., 2], known.linked.max(-1).mean(0), rtol=1e-6)
    assert (found[..., 2] >= found[..., :2].max(-1)).all()


def test_p_is_the_largest_one_of_both_tests_against_both_baselines(known: LinkAttention, draws: np.ndarray) -> None:
    """Of the sign test over sentences, and of the mean gain with the error of resampled ones."""
    found = score(known, draws)
    drawn = draws[:, [row for row in range(INPUTS) if row % 5]].astype(float)  # [resample, row]
    units = drawn.sum(1).mean() ** 2 / drawn.sum(1).var()
    linked, baselines = (
        with_either(known.linked),
        [with_either(baseline) for baseline in (known.elsewhere, known.others)],
    )
    for head in range(HEADS):
        for direction in range(3):
            expected = []
            for baseline in baselines:
                signs = [
                    np.sign(linked[row, head, direction] - baseline[row, head, direction])
                    for row in range(INPUTS)
                    if row % 5
                ]
                won, tossed = signs.count(1), signs.count(1) + signs.count(-1)
                expected.append(sum(comb(tossed, number) for number in range(won, tossed + 1)) / 2**tossed)
                gains = (linked - baseline)[[row for row in range(INPUTS) if row % 5], head, direction].astype(float)
                error = (drawn @ gains / drawn.sum(1)).std() * (units / (units - 1)) ** 0.5
                expected.append(max(t.sf(gains.mean() / error, units - 1), 0.5 * (gains.mean() <= 0)))
            np.testing.assert_allclose(found.p[head, direction], max(expected), rtol=1e-4)


def test_ties_count_for_neither(draws: np.ndarray) -> None:
    values = [(number, "x", 0.5, 0.5 if number < 30 else 0.25, 0.25) for number in range(40)]
    np.testing.assert_allclose(score(rows(values), draws).p, 0.5**10)


def test_rows_with_nothing_to_compare_have_means_alone(draws: np.ndarray) -> None:
    found = score(rows([(0, "x", 0.5, np.nan, np.nan)]), draws)
    assert found.linked.mean.tolist() == [[0.5, 0.25, 0.5]] and found.gain.count.tolist() == [0] * 3
    assert np.isnan(found.gain.mean).all() and (found.p == 1).all()
    assert best(rows([(0, "x", 0.5, np.nan, np.nan)]), draws, np.ones(INPUTS, bool)) is None


def test_the_best_head_gains_most_on_the_harder_baseline() -> None:
    """Head 1 gains 0.6 elsewhere but nothing on other words, head 2 the other way round, head 3 gains 0.2 on both."""
    linked, elsewhere, others = (np.zeros((4, 3, 2), np.float32) for _ in range(3))
    linked[:, 0, 0], others[:, 0, 0] = 0.6, 0.6
    linked[:, 1, 0], elsewhere[:, 1, 0] = 0.7, 0.7
    linked[:, 2, 1], elsewhere[:, 2, 1], others[:, 2, 1] = 0.5, 0.3, 0.1
    made = LinkAttention(
        np.arange(4),
        np.arange(4),
        np.full(4, 9),
        np.full(4, "x"),
        np.ones(4, int),
        linked,
        elsewhere,
        others,
        *np.zeros((2, 4, 3, 2)),
    )
    assert largest_gain(made) == (2, 1)
    np.testing.assert_allclose(least_gain(made), [[0, 0], [0, 0], [0, 0.2]], atol=1e-7)


def test_words_that_look_at_all_others_alike_gain_nothing(draws: np.ndarray) -> None:
    """Though other words do not look at the linked ones."""
    values = [(number, "x", 0.5, 0.0, 0.0) for number in range(40)]
    even = replace(rows(values), other_ends=rows(values).linked)
    assert (score(rows(values), draws).p < 1e-6).all() and (score(even, draws).p == 1).all()
    assert (score(even, draws).gain_others.mean == 0).all() and (least_gain(even) == 0).all()
    found = best(even, draws, np.arange(INPUTS) < 20)
    assert found is not None and found.held_out.mean.tolist() == [0.5, 0, 0.5, 0.5, 0]


def two_faced() -> tuple[LinkAttention, np.ndarray]:
    """Head 1 gains in the first half of the inputs, head 2, back, in the other."""
    first = np.arange(40) < 20
    linked = np.zeros((40, 2, 2), np.float32)
    linked[first, 0, 0] = linked[~first, 1, 1] = 0.5
    nothing = np.full((40, 2, 2), 0.125, np.float32)
    return LinkAttention(
        np.arange(40),
        np.arange(40),
        np.full(40, 9),
        np.full(40, "x"),
        np.ones(40, int),
        linked,
        nothing,
        nothing / 2,
        nothing,
        nothing,
    ), first


def test_what_is_chosen_on_one_half_is_scored_on_the_other(draws: np.ndarray) -> None:
    made, first = two_faced()
    found = best(made, draws, first)
    assert found is not None and found.selected == Selection(0, 0)
    assert found.held_out.mean.tolist() == [0, 0.125, 0.0625, -0.125, -0.0625] and found.held_out.count == 20
    other = best(made, draws, ~first)
    assert other is not None and other.selected == Selection(1, 1)
    assert best(made, draws, np.ones(INPUTS, bool)) is None


def test_relations_are_the_most_frequent_and_the_rest_is_in_all_alone() -> None:
    values = [(input, f"r{number:02}", 0.5, 0.25, 0.25) for number in range(45) for input in range(45 - number)]
    found = rows(sorted(values))
    relations = found.by_relation()
    assert list(relations) == ["all", *(f"r{number:02}" for number in range(MOST_RELATIONS))]
    assert [len(its) for its in relations.values()] == [45, *range(45, 5, -1)]
    assert relations["all"].links.tolist() == [45 - input for input in range(45)]
