"""The card of a trained classifier: its scores beside those of the annotators and of a rule.

The rule has three numbers of a map, as `profile` has them, and a threshold for each:

* column: the largest attention that a key gets, mean over queries (feature attention, without a feature);
* diagonal: attention to the previous, the same or the next token, whichever is largest (attention offset);
* block: how even attention is over the query's segment, or over all tokens, whichever is larger: 1 less the total
  variation from even attention.

A map is block where that is above its threshold, else vertical and diagonal where these are, else heterogeneous.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.results.vocabulary import OFFSETS, PATTERNS, TOKEN_CLASSES
from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.scores import (
    Labels,
    Probabilities,
    frequent,
    labels_of,
    probabilities_of,
    scores,
    text,
)
from pattern_workshop.calibration import at_rates, natural_maps, rates
from pattern_workshop.examples import HELD_OUT, is_boundary

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
    probabilities[held_out] = probabilities_of([maps[index] for index in np.flatnonzero(held_out).tolist()], classifier)
    everyone = {"classifier": (labels, probabilities), "rule": (labels, _certain(_ruled(maps, labels, folds)))}
    votes = [[labelled.annotator_a, labelled.annotator_b] for labelled in maps]
    if all(map(all, votes)):
        first, second = np.array([[PATTERNS.index(vote) for vote in pair] for pair in votes]).T  # each [map]
        everyone |= {"annotator_a": (labels, _certain(first)), "annotator_b": (labels, _certain(second))}
        everyone["between_annotators"] = (first, _certain(second))
    texts, boundary = (
        np.array([text(labelled) for labelled in maps]),
        np.array([is_boundary(labelled) for labelled in maps]),
    )

    def scores_of(part: Part) -> dict[str, Any]:
        return {
            who: scores(expected[part], answers[part], texts[part].tolist(), frequent(labels))
            for who, (expected, answers) in everyone.items()
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
    predicted = {"counted": _certain(probabilities.argmax(-1)), "unweighted": probabilities, "share": weighted}
    means = {"labels": _certain(labels)[natural].mean(0)} | {
        name: probability[natural].mean(0) for name, probability in predicted.items()
    }
    distances = {name: float(abs(means[name] - means["labels"]).sum()) for name in predicted}
    return {name: mean.tolist() for name, mean in means.items()} | {"distance": distances, "n": int(natural.sum())}


def main_scores(part: Mapping[str, Any]) -> dict[str, Any]:
    """Number of maps, accuracy, macro-F1 and F1 by pattern, by who gave the labels."""
    return {who: {name: numbers[name] for name in ("n", "accuracy", "macro_f1", "f1")} for who, numbers in part.items()}


def _ruled(maps: Sequence[Map], labels: Int[np.ndarray, " map"], folds: Folds) -> Int[np.ndarray, " map"]:
    """The patterns that the rule gives to each fold, with thresholds from the others but the held-out one."""
    features, ruled = numbers(maps), np.zeros(len(maps), int)
    for number in sorted(set(folds.tolist())):
        others = (folds != number) & (folds != HELD_OUT)
        ruled[folds == number] = predict(features[folds == number], fitted(features[others], labels[others]))
    return ruled


def _certain(predicted: Int[np.ndarray, " map"]) -> Probabilities:
    return np.eye(len(PATTERNS))[predicted]


Numbers = Float[np.ndarray, "map 3"]
VERTICAL, DIAGONAL, BOTH, BLOCK, HETEROGENEOUS = range(len(PATTERNS))
# Thresholds that are tried: so many quantiles of each number.
TRIED = 40


def numbers(maps: Sequence[Map]) -> Numbers:
    """The three numbers of each map, from 0 to 1.

    >>> even = Map(0, np.full((8, 8), 1 / 8), ("[CLS]", *"abcdef", "[SEP]"))
    >>> numbers([even]).round(3)
    array([[0.125, 0.125, 1.   ]])
    """
    return np.array([[_column(labelled), _diagonal(labelled), _block(labelled)] for labelled in maps])


def fitted(features: Numbers, labels: Int[np.ndarray, " map"]) -> Float[np.ndarray, " 3"]:
    """The thresholds with the highest accuracy."""
    levels = np.linspace(0, 1, TRIED)
    tried = np.array(list(product(*np.quantile(features, levels, axis=0).T)))  # [trial, feature]
    right = np.zeros(len(tried), int)
    for row, label in zip(features, labels, strict=True):
        right += _predict(row > tried) == label
    return tried[right.argmax()]


def predict(features: Numbers, thresholds: Float[np.ndarray, " 3"]) -> Int[np.ndarray, " map"]:
    """The number, in `PATTERNS`, of the pattern that the rule gives to each map."""
    return _predict(features > thresholds)


def _predict(above: np.ndarray) -> Int[np.ndarray, " map"]:
    column, diagonal, block = above.T  # each [map]
    lines = np.select([column & diagonal, column, diagonal], [BOTH, VERTICAL, DIAGONAL], HETEROGENEOUS)
    return np.where(block, BLOCK, lines)


def _column(map_: Map) -> float:
    return map_.attention.mean(0).max()


def _diagonal(map_: Map) -> float:
    return max(np.diagonal(map_.attention, offset).mean() for offset in OFFSETS)


def _block(map_: Map) -> float:
    ends = map_.classes == TOKEN_CLASSES.index("sep")
    segment = np.cumsum(ends) - ends
    same = segment[:, None] == segment
    even = (same / same.sum(1, keepdims=True), np.full(same.shape, 1 / len(same)))
    return max(1 - abs(map_.attention - other).sum(1).mean() / 2 for other in even)
