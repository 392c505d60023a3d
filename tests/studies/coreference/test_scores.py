"""Scores from answers, against loops over mentions, and heads that are chosen apart from what they are scored on."""

from math import comb

import numpy as np
import pytest
import xarray as xr

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval
from headscope.statistics.split_half import split_in_half
from headscope.studies.heads.coreference import variables
from headscope.studies.heads.coreference.baselines import NAMES
from headscope.studies.heads.coreference.scores import AntecedentPredictions, best, score
from support.made_mentions import rows

UNITS, HEADS = 40, 4
LAYERS = (1, 3)


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return poisson_draws(range(UNITS), 0, 100).astype(np.uint8)


@pytest.fixture(scope="module")
def known() -> tuple[AntecedentPredictions, np.ndarray]:
    """Random answers; of each unit some mentions, of two kinds."""
    random = np.random.default_rng(0)
    units = np.sort(random.integers(0, UNITS, 150))
    right = random.random((150, HEADS)) < [0.3, 0.5, 0.7, 0.9]
    guesses = (random.random((150, 4)) < [0.3, 0.4, 0.6, 1]).astype(float)
    guesses[:, 3] = random.random(150)
    kinds = random.choice(["pronoun", "nominal"], 150).tolist()
    return rows(units, right, guesses, kinds), right


def test_kinds_stand_in_their_order_after_all(known) -> None:
    answers, _ = known
    found = answers.by_kind()
    assert {name: len(its) for name, its in found.items()} == {
        "all": 150,
        **{kind: answers.kind.tolist().count(kind) for kind in ("pronoun", "nominal")},
    }
    assert list(found) == ["all", "pronoun", "nominal"]
    one = rows([0, 1], np.ones((2, 1)), answerable=[True, False])
    assert {name: len(its) for name, its in one.by_kind().items()} == {"all": 1}


def test_accuracy_and_baselines_are_over_mentions_and_resampled_by_unit(known, draws: np.ndarray) -> None:
    answers, right = known
    found = score(answers, HEADS, draws)
    np.testing.assert_allclose(found.accuracy.mean, right.mean(0))
    np.testing.assert_allclose(found.baselines.mean, answers.guesses.mean(0))
    for tally, values in ((found.accuracy, right), (found.baselines, answers.guesses)):
        resampled = [
            sum(values[case] * int(row[answers.unit[case]]) for case in range(150))
            / sum(int(row[answers.unit[case]]) for case in range(150))
            for row in draws
        ]
        np.testing.assert_allclose(tally.interval, interval(np.array(resampled), tally.units), atol=1e-12)


def test_heads_are_tested_against_the_better_reference(known, draws: np.ndarray) -> None:
    answers, right = known
    found = score(answers, HEADS, draws)
    assert NAMES[found.reference] == max(("nearest", "head_match"), key=lambda name: guess(answers, name).mean())
    base = guess(answers, NAMES[found.reference]) > 0
    for head in range(HEADS):
        alone, other = int((right[:, head] & ~base).sum()), int((~right[:, head] & base).sum())
        p = sum(comb(alone + other, number) for number in range(alone, alone + other + 1)) / 2 ** (alone + other)
        # The larger of the exact p and that of a t test over units.
        assert found.p[head] >= p * (1 - 1e-9) and (found.p[head] < 0.05) <= (p < 0.05)


def guess(answers: AntecedentPredictions, name: str) -> np.ndarray:
    return answers.guesses[:, NAMES.index(name)]


def two_faced() -> tuple[AntecedentPredictions, np.ndarray]:
    """Head 2 and nearest are right in the first half of the units, head 1 and head match in the other."""
    first = np.arange(UNITS) < UNITS // 2
    right, guesses = np.zeros((UNITS, 3)), np.zeros((UNITS, 4))
    right[first, 1] = right[~first, 0] = guesses[first, 0] = guesses[~first, 1] = 1
    return rows(range(UNITS), right, guesses), first


def test_what_is_chosen_on_one_half_is_scored_on_the_other(draws: np.ndarray) -> None:
    answers, first = two_faced()
    found = best(answers, 3, draws, first)
    assert found is not None and (found.selected.head, NAMES[found.selected.baseline]) == (1, "nearest")
    assert found.held_out.mean.tolist() == [0, 0, 1, 0, 0, 0] and found.held_out.count.max() == UNITS // 2
    other = best(answers, 3, draws, ~first)
    assert other is not None and (other.selected.head, NAMES[other.selected.baseline]) == (0, "head_match")


def test_a_gain_is_of_the_head_over_the_reference_in_the_same_mentions(draws: np.ndarray) -> None:
    right, guesses = np.zeros((UNITS, 1)), np.zeros((UNITS, 4))
    right[::2] = guesses[::4, [0]] = 1
    found = best(rows(range(UNITS), right, guesses), 1, draws, np.arange(UNITS) < 8)
    assert found is not None
    np.testing.assert_allclose(found.held_out.mean, [0.5, 0.25, 0, 0, 0, 0.25])


def test_without_a_case_in_each_half_nothing_is_chosen(draws: np.ndarray) -> None:
    answers = rows([3], np.ones((1, 2)))
    assert best(answers, 2, draws, np.ones(UNITS, bool)) is None
    assert best(answers, 2, draws, np.zeros(UNITS, bool)) is None


@pytest.fixture(scope="module")
def result(draws: np.ndarray) -> xr.Dataset:
    """Layer 2, head 3 finds every antecedent, nearest a half; there are 100 pronouns and 20 names."""
    units = np.arange(120) // 3
    right, guesses = np.zeros((120, HEADS)), np.zeros((120, 4))
    right[:, 3] = guesses[::2, 0] = 1
    answers = rows(units, right, guesses, ["pronoun"] * 100 + ["proper"] * 20)
    selection_half = split_in_half(UNITS, 0)
    kinds = answers.by_kind()
    return xr.Dataset(
        variables.score_variables({name: score(its, HEADS, draws) for name, its in kinds.items()}, LAYERS)
        | variables.best_variables(
            {name: best(its, HEADS, draws, selection_half) for name, its in kinds.items()}, LAYERS
        )
    )


def test_a_head_is_special_that_beats_the_reference_in_enough_mentions(result: xr.Dataset) -> None:
    assert result["special"].sel(layer=2, head=3).values.tolist() == [1, 1, 0]
    assert result["special"].sum() == 2 and (result["q_value"].sel(layer=2, head=3) < 0.05).all()
    np.testing.assert_allclose(result["baseline_accuracy"].sel(baseline="nearest"), 0.5)
    assert result["reference"].values.tolist() == ["nearest"] * 3
