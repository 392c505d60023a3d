"""Variables of facts from planted scores: two facts in two wordings."""

import numpy as np
import pytest

from headscope import Settings
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import filled
from headscope.studies.cloze.fact_variables import fact_variables
from headscope.studies.cloze.item_scores import ItemScores


def test_facts_over_wordings_and_without_names() -> None:
    answer = filled("It is [MASK].", "old")
    items = [
        ClozeItem(f"{fact}-{wording}", "P1", answer, (), "old", subject="x", fact=fact, template=wording)
        for fact in ("one", "other")
        for wording in ("first", "second")
    ]
    good, rank, choice = np.array([-1.0, -2, -1, -1]), np.array([1, 11, 1, 1]), np.array([5, 6, 5, 5])
    own = ItemScores(good, -3 - good, rank, choice, 0, {}, {})  # right, wrong, right, right
    matched, guessed = np.array([1, 0, 0, 0], bool), np.array([0, 1, 0, 0], bool)
    made = fact_variables(items, own, matched, guessed, Settings(resamples=10))
    assert made["accuracy_by_name_filter"].values[0] == pytest.approx([2 / 3, 1])
    assert {name: float(made[name][0]) for name in ("consistency", "right_in_all", "precision_at_10")} == {
        "consistency": 0.5,
        "right_in_all": 0.5,
        "precision_at_10": 0.75,
    }
