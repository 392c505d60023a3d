"""Predictions that stay, surely preferred answers, and accuracy by pieces, from planted scores."""

from dataclasses import replace

import numpy as np
import pytest

from headscope import Settings
from headscope.corpora.suites import ClozeItem
from headscope.corpora.suites.item import gap, pair
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.variables import to_variables

SETTINGS = Settings(resamples=20)


def scores(good: list[float], choice: list[int], pieces: list[int]) -> ItemScores:
    values, none = np.array(good), np.full(len(good), np.nan)
    bad = np.log(np.full(len(good), 0.2))
    rank = np.zeros(len(good), int)
    return ItemScores(np.log(values), bad, rank, np.array(choice), 0, {}, {}, none, none, np.array(pieces))


def test_planted_scores_by_pieces_threshold_and_choice() -> None:
    items = [gap(str(number), "gaps", "It is [MASK].", ("old", "new")) for number in range(4)]
    items.append(pair("pair", "pairs", "He sleeps.", ("He sleep.",)))
    made: list[ClozeItem] = items
    own = scores([0.3, 0.205, 0.1, 0.22, 0.9], [0, 0, 1, 0, 0], [1, 1, 2, 6, 0])
    changed = scores([0.3, 0.1, 0.1, 0.1, 0.9], [0, 1, 1, -1, 0], [1, 1, 2, 6, 0])
    result = to_variables(made, ["mine"] * 5, own, {}, {"shuffled": changed}, SETTINGS, vocabulary=9)
    assert result["accuracy_beyond"].values[0] == pytest.approx(0.5)  # 0.205 beats 0.2, not by 0.01
    assert np.isnan(result["accuracy_beyond"].values[1])
    assert result["accuracy_by_pieces"].values[0] == pytest.approx([1, 0, np.nan, 1], nan_ok=True)
    assert result["accuracy_by_pieces_n_examples"].values[0].tolist() == [2, 1, 0, 1]
    assert result["prediction_kept"].values[:, 0] == pytest.approx([2 / 3, 1])  # the fourth has no score


def test_baselines_by_condition_are_naive_means_and_documents_are_resampled_whole() -> None:
    conditions, right = ["0 attractors", "1 attractor"] * 20, [0.9, 0.1] * 20
    items = [
        replace(
            gap(str(number), "gaps", "It is [MASK].", ("old", "new"), condition=condition), document=f"{number // 4}"
        )
        for number, condition in enumerate(conditions)
    ]
    own, chosen, pieces = scores(right, [0] * 40, [1] * 40), [0.9, 0.9, 0.1, 0.9] * 10, [1] * 40
    unigram = scores(chosen, [0] * 40, pieces)
    result = to_variables(items, ["mine"] * 40, own, {"unigram": unigram}, {}, SETTINGS, vocabulary=9)
    for condition, values in {"0 attractors": chosen[::2], "1 attractor": chosen[1::2]}.items():
        naive = sum(value > 0.2 for value in values) / len(values)
        found = result["baseline_by_condition"].sel(condition=f"gaps: {condition}", baseline="unigram")
        assert float(found) == pytest.approx(naive)
    lower, upper = result["baseline_by_condition_ci"].values[0, 0]
    assert lower == upper == 0.5  # each document has one right and one wrong item
    assert result["accuracy_by_condition"].values.tolist() == [1, 0]
