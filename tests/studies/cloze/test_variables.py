"""Predictions that stay, surely preferred answers, and accuracy by pieces, from planted scores."""

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
