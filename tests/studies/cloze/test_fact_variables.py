"""Variables of facts from planted scores: two facts in two wordings."""

import numpy as np
import pytest
import xarray as xr

from headscope import Settings
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.figures import with_interval
from headscope.studies.words.cloze.fact_variables import fact_variables, most_frequent
from headscope.studies.words.cloze.item_scores import ItemScores


def test_facts_over_wordings_and_without_names() -> None:
    answer = filled("It is [MASK].", "old")
    items = [
        ClozeItem(f"{fact}-{wording}", "P1", answer, (), "old", subject="x", fact=fact, template=wording)
        for fact in ("one", "other")
        for wording in ("first", "second")
    ]
    good, rank, choice = np.array([-1.0, -2, -1, -1]), np.array([1, 11, 1, 1]), np.array([5, 6, 5, 5])
    own = ItemScores(
        good, -3 - good, rank, choice, 0, {}, {}, rank * 0.5, rank * 0.5, rank
    )  # right, wrong, right, right
    matched, guessed = np.array([1, 0, 0, 0], bool), np.array([0, 1, 0, 0], bool)
    made = fact_variables(items, own, {}, matched, guessed, Settings(resamples=10))
    assert made["accuracy_by_name_filter"].values[0] == pytest.approx([2 / 3, 1])
    assert float(made["precision_at_5"][0]) == 0.75 and float(made["accuracy_of_most_frequent"][0]) == 1
    assert {name: float(made[name][0]) for name in ("consistency", "right_in_all", "precision_at_10")} == {
        "consistency": 0.5,
        "right_in_all": 0.5,
        "precision_at_10": 0.75,
    }


def worded(right: dict[str, list[float]]) -> tuple[list[ClozeItem], ItemScores]:
    """Facts in several wordings, right or not: the numbers of each wording are of the facts in turn."""
    answer, facts = filled("It is [MASK].", "old"), range(len(next(iter(right.values()))))
    items = [
        ClozeItem(f"{fact}-{name}", "P1", answer, (), "old", fact=str(fact), template=name)
        for fact in facts
        for name in right
    ]
    correct = np.array([right[name][fact] for fact in facts for name in right])
    good, rank = np.where(correct > 0, -1.0, -3.0), np.where(correct > 0, 1, 3)
    return items, ItemScores(good, np.full(len(items), -2.0), rank, rank, 0, {}, {}, correct, correct, rank * 0 + 1)


def best(right: dict[str, list[float]]) -> tuple[float, float]:
    items, own = worded(right)
    none = np.zeros(len(items), bool)
    made = fact_variables(items, own, {}, none, none, Settings(resamples=10))
    return float(made["accuracy_of_best_wording"][0]), float(made["best_wording_gain"][0])


def test_the_best_wording_is_chosen_on_the_other_half_of_the_facts() -> None:
    assert best({"good": [1, 1, 1, 1], "bad": [0, 0, 0, 0]}) == (1, 0.5)
    # Each half has another best wording: what is best for one half is wrong in the other.
    assert best({"even": [1, 0, 1, 0], "odd": [0, 1, 0, 1]}) == (0, -0.5)


def test_facts_that_are_all_wrong_leave_the_gain_of_a_wording_open() -> None:
    items, own = worded({"one": [0.0] * 8, "other": [0.0] * 8})
    none = np.zeros(len(items), bool)
    gain = with_interval(
        xr.Dataset(fact_variables(items, own, {}, none, none, Settings(resamples=10))), "best_wording_gain"
    )
    most = 1 - 0.025 ** (1 / 4)  # four are judged, by the choice of the other four
    assert [float(gain["lower"][0]), float(gain["upper"][0])] == pytest.approx([-most, most])


def test_wordings_that_differ_by_chance_gain_nothing() -> None:
    random = np.random.default_rng(0)
    gains = [best({str(name): random.integers(0, 2, 20).tolist() for name in range(5)})[1] for _ in range(40)]
    assert abs(np.mean(gains)) < 0.05  # chosen on the same facts it would be about 0.15


def test_the_most_frequent_answer_is_chosen_on_the_other_half_of_the_facts() -> None:
    def frequent(answers: str) -> list[float]:
        items = [
            ClozeItem(f"{fact}-{name}", "P1", filled("It is [MASK].", answer), (), answer, fact=str(fact))
            for fact, answer in enumerate(answers)
            for name in ("one", "other")
        ]
        ones = np.ones(len(items))
        own = ItemScores(ones, ones, ones.astype(int), ones.astype(int), 0, {}, {}, ones, ones, ones.astype(int))
        return most_frequent(items, own)[::2].tolist()

    # Each half has another most frequent answer: on the same facts either would be right in half of them.
    assert frequent("abababab") == [0.0] * 8
    assert frequent("aaab") == [1, 1, 1, 0]
    assert np.isnan(frequent("a")).all()
