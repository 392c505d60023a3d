"""What is known of a trained classifier: its scores beside the annotators' and a rule's, and a page that says so."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.results.vocabulary import PATTERNS
from headscope.studies.patterns.classifier.network import Classifier
from headscope.studies.patterns.labels.labelled_maps import Map
from headscope.studies.patterns.training.evaluate import Probabilities, enough, labels_of, probabilities_of, scores
from headscope.studies.patterns.training.folds import HELD_OUT, text
from headscope.studies.patterns.training.rule_baseline import fitted, numbers, told

Folds = Int[np.ndarray, " map"]


def scored(maps: Sequence[Map], folds: Folds, crossed: Probabilities, classifier: Classifier) -> dict[str, Any]:
    """The scores of a classifier, of the rule, and of the annotators, in cross-validation and held out.

    `crossed` are the probabilities of all maps but the held-out ones, from learners that had not seen their texts.
    """
    known, held_out = folds != HELD_OUT, folds == HELD_OUT
    labels = labels_of(maps)
    said = np.zeros((len(maps), len(PATTERNS)))
    said[known] = crossed
    said[held_out] = probabilities_of([maps[place] for place in np.flatnonzero(held_out).tolist()], classifier)
    everyone = {"classifier": said, "rule": _certain(_ruled(maps, labels, folds))}
    for who in ("annotator_a", "annotator_b"):
        votes = [getattr(each, who) for each in maps]
        if all(votes):
            everyone[who] = _certain(np.array([PATTERNS.index(vote) for vote in votes]))
    texts, classes = np.array([text(each) for each in maps]), enough(labels)
    return {
        name: {who: scores(labels[part], its[part], texts[part].tolist(), classes) for who, its in everyone.items()}
        for name, part in {"cross_validation": known, "held_out": held_out}.items()
    }


def _ruled(maps: Sequence[Map], labels: Int[np.ndarray, " map"], folds: Folds) -> Int[np.ndarray, " map"]:
    """What the rule says of each fold, with thresholds from the others; nothing is learnt from the held-out one."""
    found, ruled = numbers(maps), np.zeros(len(maps), int)
    for number in sorted(set(folds.tolist())):
        others = (folds != number) & (folds != HELD_OUT)
        ruled[folds == number] = told(found[folds == number], fitted(found[others], labels[others]))
    return ruled


def _certain(told: Int[np.ndarray, " map"]) -> Probabilities:
    return np.eye(len(PATTERNS))[told]
