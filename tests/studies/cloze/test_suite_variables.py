"""Differences of suites on the same items: planted scores, with and without facts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from headscope import Settings
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.variables import suite_variables

SETTINGS = Settings(resamples=50)


def scores(right: list[float], rank: list[int] | None = None) -> ItemScores:
    good = np.where(np.array(right) > 0, -1.0, -3.0)
    ranks, first = np.array(rank or [0] * len(right)), np.array(right, float)
    bad = np.full(len(right), -2.0)
    return ItemScores(good, bad, ranks, good.astype(int), 0, {}, {}, first, first, ranks * 0 + 1)


def fact(number: int, answer: str, subject: str = "Ann") -> ClozeItem:
    return ClozeItem(str(number), "P1", filled("It is [MASK].", answer), (), answer, subject=subject)


def test_falls_and_gains_are_of_the_same_items() -> None:
    items = [fact(number, "old", "") for number in range(4)]
    own, changed = scores([1, 1, 1, 0]), scores([1, 0, 1, 1])
    made = suite_variables(
        items, ["a"] * 4, own, {"unigram": changed}, {"shuffled": changed}, np.zeros(4, bool), SETTINGS
    )
    assert set(made) >= {"control_fall", "baseline_gain"} and "answer_gain" not in made
    for name in ("control_fall", "baseline_gain"):
        assert made[name].values == pytest.approx(np.zeros((1, 1)))
    none = np.zeros(4, bool)
    same = suite_variables(items, ["a"] * 4, own, {}, {"shuffled": own}, none, SETTINGS)
    most = 1 - 0.025 ** (1 / 4)  # four items alike do not say that all others would be
    assert same["control_fall_ci"].values[0, 0] == pytest.approx([-most, most])


def test_facts_are_scored_beside_their_most_frequent_answer_and_by_name() -> None:
    items = [fact(number, answer) for number, answer in enumerate(("old", "old", "new", "red"))]
    own = scores([1, 0, 1, 1], [1, 5, 1, 1])
    away = np.array([True, False, False, False])
    made = suite_variables(items, ["lama"] * 4, own, {}, {}, away, SETTINGS)
    assert float(made["answer_gain"][0]) == pytest.approx(0.25)  # three of four, against two
    assert float(made["among_gain"][0]) == pytest.approx(0.25)
    names = ("accuracy_given_away", "accuracy_not_given_away")
    assert [float(made[name][0]) for name in names] == pytest.approx([1, 2 / 3])
    assert [int(made[f"{name}_n_examples"][0]) for name in names] == [1, 3]


@pytest.mark.parametrize("planted", [True, False])
def test_margins_follow_people_where_they_do(planted: bool) -> None:
    random = np.random.default_rng(0)
    human, noise = random.random(40), random.normal(size=40)
    margin = human + noise / 10 if planted else noise
    own = replace(scores([1] * 40), good=margin, bad=np.zeros(40))
    items = [replace(fact(number, "old", ""), human=share) for number, share in enumerate(human)]
    items += [fact(40, "old", "")]
    own = replace(own, good=np.append(own.good, 9.0), bad=np.append(own.bad, 0.0))
    own = replace(own, **{name: np.append(getattr(own, name), 1) for name in ("rank", "choice", "among", "fill")})
    made = suite_variables(items, ["roles"] * 40 + ["others"], own, {}, {}, np.zeros(41, bool), SETTINGS)
    lower, upper = made["human_agreement_ci"].values[0]
    assert float(made["human_agreement"][0]) == pytest.approx(spearmanr(margin, human)[0])
    assert (lower > 0.5) if planted else (lower < 0 < upper)
    assert made["human_agreement_n_examples"].values.tolist() == [40, 0] and np.isnan(made["human_agreement"][1])
