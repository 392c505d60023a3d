"""F1 by gender as the scorer of GAP counts it, name by name; gaps between the two sentences of a pair."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import effective_units, interval
from headscope.studies.heads.coreference import variables
from headscope.studies.heads.coreference.question_scores import GENDER_NAMES, Pairs, f1, pairs, pronoun_counts
from headscope.studies.heads.coreference.scores import AntecedentPredictions
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
    expected = [[official(answers, right[:, way], gender) for gender in GENDER_NAMES] for way in range(WAYS)]
    np.testing.assert_allclose(found.f1, expected)
    np.testing.assert_allclose(found.ratio, [feminine / masculine for masculine, feminine, _ in expected])
    assert pronoun_counts(answers) == [*(answers.gender.tolist().count(name) for name in GENDER_NAMES[:2]), NUMBER]


def test_passages_are_resampled(passages) -> None:
    answers, right = passages
    draws = poisson_draws(range(NUMBER), 0, 30)
    found = f1(right.astype(float), answers, draws)
    drawn, ratios = [], []
    for row in draws.astype(int):
        again = np.repeat(np.arange(NUMBER), row)
        one = f1(right[again].astype(float), answers[again], np.ones((1, NUMBER)))
        drawn.append(one.f1)
        ratios.append(one.ratio)
    masks = np.stack([answers.gender == "masculine", answers.gender == "feminine", np.ones(NUMBER)], axis=1)
    passages = effective_units(draws @ masks)
    np.testing.assert_allclose(found.f1_interval, interval(np.array(drawn), passages))
    np.testing.assert_allclose(found.ratio_interval, interval(np.array(ratios), passages[:2].min()))


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
    result = variables.stereotype_variables(found, draws, (3,))
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
    result = variables.stereotype_variables(found, poisson_draws(range(NUMBER), 0, 5).astype(np.uint8), (3,))
    assert (result["attention_gap_q"].sel(layer=1) < 0.05).values.tolist() == [True, False, False]
    assert (result["preference_gap_q"].sel(layer=1) < 0.05).values.tolist() == [True, False, False]
    assert result["attention_gap"].sel(head=3).item() == 0


def test_tests_are_paired(found: Pairs) -> None:
    p = found.attention_p()
    np.testing.assert_allclose(p[:2], ttest_rel(found.pro.toward[:, :2], found.anti.toward[:, :2]).pvalue)
    assert p[2] == 1
    ours, theirs = (answers.unpacked(3)[:, 0].astype(bool) for answers in (found.pro, found.anti))
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
