"""Scores in closed form; intervals over texts; which maps the classifier was trained on is told apart."""

import numpy as np
import pytest

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.scores import calibration_error, confusions, evaluate, f1, scores, text


def certain(predicted: list[int]) -> np.ndarray:
    return np.eye(len(PATTERNS))[predicted]


def test_scores_in_closed_form() -> None:
    labels, predicted = np.array([0] * 12 + [1] * 10 + [3]), [0] * 9 + [1] * 3 + [1] * 10 + [3]
    found = scores(labels, certain(predicted), list("abcdefghijklmnopqrstuvw"), [0, 1])
    assert found["n"] == 23
    assert found["accuracy"] == pytest.approx(20 / 23)
    assert found["f1"] == {
        "vertical": pytest.approx(18 / 21),
        "diagonal": pytest.approx(20 / 23),
        "vertical_diagonal": 0,
        "block": 1,
        "heterogeneous": 0,
    }
    assert found["macro_f1"] == pytest.approx((18 / 21 + 20 / 23) / 2)
    assert found["macro_f1_over"] == ["vertical", "diagonal"]
    assert found["confusion"]["vertical"] == {"vertical": 9, "diagonal": 3} | dict.fromkeys(PATTERNS[2:], 0)
    assert found["n_by_class"]["block"] == 1
    assert found["calibration_error"] == pytest.approx(3 / 23)
    assert found["accuracy_ci"][0] < 20 / 23 < found["accuracy_ci"][1]


def test_intervals_are_over_texts() -> None:
    labels, predicted = np.array([0] * 40), [0] * 20 + [1] * 20
    many = scores(labels, certain(predicted), [str(number) for number in range(40)], [0])["accuracy_ci"]
    few = scores(labels, certain(predicted), [str(number // 10) for number in range(40)], [0])["accuracy_ci"]
    assert few[1] - few[0] > 1.5 * (many[1] - many[0])


def test_f1_is_that_of_a_naive_count() -> None:
    random = np.random.default_rng(0)
    labels, predicted, weights = random.integers(0, 5, 80), random.integers(0, 5, 80), random.poisson(1, (3, 80))
    found = f1(confusions(labels, predicted, weights))
    for row, weight in zip(found, weights, strict=True):
        maps = list(zip(labels.tolist(), predicted.tolist(), weight.tolist(), strict=True))
        for number in range(5):
            right = sum(times for one, other, times in maps if one == other == number)
            either = sum(times * ((one == number) + (other == number)) for one, other, times in maps)
            assert row[number] == pytest.approx(2 * right / either)


def test_confidence_that_is_right_as_often_as_it_says_is_calibrated() -> None:
    probabilities = np.tile([0.8, 0.2, 0, 0, 0], (10, 1))
    assert calibration_error(np.array([0] * 8 + [1] * 2), probabilities) == pytest.approx(0)
    assert calibration_error(np.array([0] * 5 + [1] * 5), probabilities) == pytest.approx(0.3)


def map_of(token: str, label: str) -> Map:
    return Map(0, np.full((4, 4), 0.25, np.float32), ("[CLS]", token, "b", "[SEP]"), label)


def test_maps_that_were_trained_on_are_told_apart() -> None:
    maps = [map_of("old", "block"), map_of("old", "diagonal"), map_of("new", "block"), map_of("none", "")]
    classifier = Classifier({"texts": [text(maps[0])]}).eval()
    found = evaluate(maps, classifier)
    assert (found["n"], found["trained_on"], found["not_trained_on"]["n"]) == (3, 2, 1)
    assert "not_trained_on" not in evaluate(maps[:2], classifier)
    assert "not_trained_on" not in evaluate(maps[2:], classifier)
    assert evaluate(maps[2:], classifier)["trained_on"] == 0


def test_nothing_to_score() -> None:
    with pytest.raises(HeadscopeError, match="no map has a label"):
        evaluate([map_of("a", "")], Classifier())
    with pytest.raises(HeadscopeError, match="map 3 has 2 tokens; maps have 4 to 512"):
        evaluate([Map(3, np.full((2, 2), 0.5), ("a", "b"), "block")], Classifier())
