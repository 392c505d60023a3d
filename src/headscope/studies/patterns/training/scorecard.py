"""The card of a trained classifier: its scores beside those of the annotators and of a rule."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from headscope.results.vocabulary import PATTERNS
from headscope.studies.patterns.classifier.network import Classifier
from headscope.studies.patterns.labels.labelled_maps import Map
from headscope.studies.patterns.training.calibration import at_rates, natural_maps, rates
from headscope.studies.patterns.training.evaluate import (
    Labels,
    Probabilities,
    frequent,
    labels_of,
    probabilities_of,
    scores,
)
from headscope.studies.patterns.training.examples import HELD_OUT, is_boundary, text
from headscope.studies.patterns.training.rule_baseline import fitted, numbers, predict

Folds = Int[np.ndarray, " map"]
Part = Bool[np.ndarray, " map"]


def scorecard(maps: Sequence[Map], folds: Folds, crossed: Probabilities, classifier: Classifier) -> dict[str, Any]:
    """The scores of a classifier, of the rule, and of the annotators, in cross-validation and held out.

    The annotators are scored against the final label, to which both contributed, and `between_annotators` against each
    other: as one reader agrees with another.

    * `crossed`: the probabilities of all maps but the held-out ones, from learners that had not seen their texts.

    Returns: scores by who gave the labels, of all maps and (if there are both) of the parts `random` and `boundary`.
    """
    learnt, held_out = folds != HELD_OUT, folds == HELD_OUT
    labels = labels_of(maps)
    probabilities = np.zeros((len(maps), len(PATTERNS)))
    probabilities[learnt] = crossed
    probabilities[held_out] = probabilities_of([maps[place] for place in np.flatnonzero(held_out).tolist()], classifier)
    everyone = {"classifier": (labels, probabilities), "rule": (labels, _certain(_ruled(maps, labels, folds)))}
    votes = [[each.annotator_a, each.annotator_b] for each in maps]
    if all(map(all, votes)):
        first, second = np.array([[PATTERNS.index(vote) for vote in pair] for pair in votes]).T  # each [map]
        everyone |= {"annotator_a": (labels, _certain(first)), "annotator_b": (labels, _certain(second))}
        everyone["between_annotators"] = (first, _certain(second))
    texts, boundary = np.array([text(each) for each in maps]), np.array([is_boundary(each) for each in maps])

    def scores_of(part: Part) -> dict[str, Any]:
        return {
            who: scores(expected[part], each[part], texts[part].tolist(), frequent(labels))
            for who, (expected, each) in everyone.items()
        }

    card = {"cross_validation": scores_of(learnt), "held_out": scores_of(held_out)}
    card["shares"] = shares(labels, probabilities, folds, natural_maps(maps))
    if 0 < boundary.sum() < len(maps):
        parts = {"random": ~boundary, "boundary": boundary}
        sides = {"cross_validation": learnt, "held_out": held_out}
        card["parts"] = {
            name: {side: scores_of(part & among) for side, among in sides.items() if (part & among).any()}
            for name, part in parts.items()
        }
    return card


def shares(labels: Labels, probabilities: Probabilities, folds: Folds, natural: Part) -> dict[str, Any]:
    """Shares of random maps by the labels and by the classifier, and their distances from the labels.

    `counted` counts the most probable pattern of each map; `unweighted` are mean probabilities, and `share` those at
    the rates of patterns, which each fold takes from the others. A distance is the sum of absolute differences.
    """
    weighted = np.zeros_like(probabilities)
    for number in sorted(set(folds[natural].tolist())):
        others, its = natural & (folds != number) & (folds != HELD_OUT), natural & (folds == number)
        weighted[its] = at_rates(probabilities[its], rates(labels[others], probabilities[others]))
    told = {"counted": _certain(probabilities.argmax(-1)), "unweighted": probabilities, "share": weighted}
    means = {"labels": _certain(labels)[natural].mean(0)} | {name: each[natural].mean(0) for name, each in told.items()}
    distances = {name: float(abs(means[name] - means["labels"]).sum()) for name in told}
    return {name: mean.tolist() for name, mean in means.items()} | {"distance": distances, "n": int(natural.sum())}


def main_scores(part: Mapping[str, Any]) -> dict[str, Any]:
    """Number of maps, accuracy, macro-F1 and F1 by pattern, by who gave the labels."""
    return {who: {name: each[name] for name in ("n", "accuracy", "macro_f1", "f1")} for who, each in part.items()}


def _ruled(maps: Sequence[Map], labels: Int[np.ndarray, " map"], folds: Folds) -> Int[np.ndarray, " map"]:
    """The patterns that the rule gives to each fold, with thresholds from the others but the held-out one."""
    features, ruled = numbers(maps), np.zeros(len(maps), int)
    for number in sorted(set(folds.tolist())):
        others = (folds != number) & (folds != HELD_OUT)
        ruled[folds == number] = predict(features[folds == number], fitted(features[others], labels[others]))
    return ruled


def _certain(predicted: Int[np.ndarray, " map"]) -> Probabilities:
    return np.eye(len(PATTERNS))[predicted]
