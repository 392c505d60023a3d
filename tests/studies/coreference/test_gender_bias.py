"""F1 by gender as the scorer of GAP counts it, name by name."""

import numpy as np
import pytest

from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.coreference.gender_bias import NAMES, counts, f1
from headscope.studies.coreference.predictions import AntecedentPredictions
from support.made_mentions import rows

NUMBER, WAYS = 60, 3


@pytest.fixture(scope="module")
def passages() -> tuple[AntecedentPredictions, np.ndarray]:
    random = np.random.default_rng(1)
    known = random.random(NUMBER) < 0.8
    right = (random.random((NUMBER, WAYS)) < [0.4, 0.6, 0.9]) & known[:, None]
    gender = random.choice(["masculine", "feminine"], NUMBER)
    return rows(range(NUMBER), right, answerable=known, gender=gender, question=np.ones(NUMBER, bool)), right


def official(answers: AntecedentPredictions, right: np.ndarray, gender: str) -> float:
    """F1 over names: of each passage one name is called coreferent, and one or none is."""
    positive = false_positive = false_negative = 0
    for case in range(NUMBER):
        if gender in ("overall", answers.gender[case]):
            positive += bool(right[case])
            false_positive += not right[case]
            false_negative += bool(answers.answerable[case]) and not right[case]
    precision, recall = positive / (positive + false_positive), positive / (positive + false_negative)
    return 2 * precision * recall / (precision + recall)


def test_f1_is_that_of_all_names(passages) -> None:
    answers, right = passages
    found = f1(right.astype(float), answers, poisson_draws(range(NUMBER), 0, 20))
    expected = [[official(answers, right[:, way], gender) for gender in NAMES] for way in range(WAYS)]
    np.testing.assert_allclose(found.f1, expected)
    np.testing.assert_allclose(found.ratio, [feminine / masculine for masculine, feminine, _ in expected])
    assert counts(answers) == [*(answers.gender.tolist().count(name) for name in NAMES[:2]), NUMBER]


def test_passages_are_resampled(passages) -> None:
    answers, right = passages
    draws = poisson_draws(range(NUMBER), 0, 30)
    found = f1(right.astype(float), answers, draws)
    drawn = []
    for row in draws.astype(int):
        again = np.repeat(np.arange(NUMBER), row)
        one = f1(right[again].astype(float), answers[again], np.ones((1, NUMBER)))
        drawn.append(np.concatenate([one.f1.ravel(), one.ratio]))
    bounds = np.moveaxis(np.quantile(drawn, [0.025, 0.975], axis=0), 0, -1)
    np.testing.assert_allclose(np.concatenate([found.f1_interval.reshape(-1, 2), found.ratio_interval]), bounds)


def test_the_best_that_a_head_can_do_is_limited_by_pronouns_of_neither_name(passages) -> None:
    answers, _ = passages
    perfect = f1(answers.answerable[:, None].astype(float), answers, np.ones((1, NUMBER)))
    known = answers.answerable.sum()
    np.testing.assert_allclose(perfect.f1[0, 2], 2 * known / (NUMBER + known))


def test_what_is_never_right_has_no_ratio(passages) -> None:
    answers, _ = passages
    none = f1(np.zeros((NUMBER, 1)), answers, np.ones((1, NUMBER)))
    assert none.f1.tolist() == [[0, 0, 0]] and np.isnan(none.ratio).all()
    masculine = answers[answers.gender == "masculine"]
    assert np.isnan(f1(np.ones((len(masculine), 1)), masculine, np.ones((1, NUMBER))).f1[0, 1])
