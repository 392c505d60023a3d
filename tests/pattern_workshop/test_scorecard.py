"""The scores on a card: the annotators against the final label, and against each other."""

import numpy as np
import pytest

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from pattern_workshop.examples import HELD_OUT
from pattern_workshop.scorecard import scorecard, shares

pytestmark = pytest.mark.thorough

EVEN = np.full((8, 8), 1 / 8, np.float32)


def labelled(id: int, label: str, *votes: str) -> Map:
    annotators = dict(zip(("annotator_a", "annotator_b"), votes, strict=False))
    return Map(id, EVEN, ("[CLS]", f"text {id}", *"abcde", "[SEP]"), label, **annotators)


def test_two_annotators_who_contributed_to_the_label_agree_less_with_each_other() -> None:
    """Of ten maps A is right about nine, B about eight, and both about seven."""
    votes = [("vertical", "vertical")] * 7 + [("vertical", "block")] * 2 + [("diagonal", "vertical")]
    maps = [labelled(id, "vertical", *pair) for id, pair in enumerate([*votes, votes[0]])]
    folds = np.array([0, 1] * 5 + [HELD_OUT])
    card = scorecard(maps, folds, np.full((10, len(PATTERNS)), 0.2), Classifier().eval())["cross_validation"]
    accuracy = {who: scores["accuracy"] for who, scores in card.items() if who != "rule"}
    expected = {"classifier": 1.0, "annotator_a": 0.9, "annotator_b": 0.8, "between_annotators": 0.7}
    assert accuracy == pytest.approx(expected)  # equal probabilities are the first pattern


def test_labels_of_one_annotator_have_no_agreement() -> None:
    maps = [labelled(0, "vertical", "vertical", "vertical"), labelled(1, "vertical"), labelled(2, "vertical")]
    card = scorecard(maps, np.array([0, 1, HELD_OUT]), np.full((2, len(PATTERNS)), 0.2), Classifier().eval())
    assert set(card["cross_validation"]) == {"classifier", "rule"}


def test_the_distance_of_shares_is_that_of_maps_told_at_rates_of_other_folds() -> None:
    """Probabilities of .7 for what is right in half of the maps: rates of the other folds mend the mean."""
    labels, folds = np.array([0, 1] * 60), np.repeat([0, 1, HELD_OUT], 40)
    probabilities = np.zeros((120, 5))
    probabilities[:, 0], probabilities[:, 1] = 0.7, 0.3
    found = shares(labels, probabilities, folds, np.ones(120, bool))
    assert found["distance"]["counted"] == pytest.approx(1.0)
    assert found["distance"]["unweighted"] == pytest.approx(0.4)
    assert found["distance"]["share"] < 0.1
    assert found["labels"][:2] == [0.5, 0.5] and found["n"] == 120
