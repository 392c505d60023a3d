"""Scores of a classifier on labelled maps."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval
from headscope.studies.heads.patterns.classifier import Classifier, load
from headscope.studies.heads.patterns.grid import LEAST_TOKENS, MOST_TOKENS, pool
from headscope.studies.heads.patterns.labelled_maps import Map

# A class with fewer maps than this has no F1 worth averaging.
LEAST_MAPS = 10
RESAMPLES, BINS = 1000, 10

Probabilities = Float[np.ndarray, "map pattern"]
Labels = Int[np.ndarray, " map"]


def evaluate(maps: Sequence[Map], classifier: Classifier | None = None) -> dict[str, Any]:
    """Scores of a classifier (by default the one that is shipped) on labelled maps; see `scores`.

    Returns: the scores on all maps; `not_trained_on`, those on maps of texts that it never saw; and `trained_on`, the
    number of the other maps.

    Raises `HeadscopeError` if no map has a label.
    """
    classifier = classifier or load()
    maps = [labelled for labelled in maps if labelled.label]
    if not maps:
        raise HeadscopeError(f"no map has a label; give lines of labels.jsonl one of {', '.join(PATTERNS)}")
    probabilities, labels = probabilities_of(maps, classifier), labels_of(maps)
    texts = [text(labelled) for labelled in maps]
    trained_on = set(classifier.card.get("texts", ()))
    unseen = np.array([words not in trained_on for words in texts])
    classes = frequent(labels)
    result = scores(labels, probabilities, texts, classes) | {"trained_on": int((~unseen).sum())}
    if 0 < unseen.sum() < len(maps):
        rest = [words for words, new in zip(texts, unseen, strict=True) if new]
        result["not_trained_on"] = scores(labels[unseen], probabilities[unseen], rest, classes)
    return result


def text(map_: Map) -> str:
    """A short name of the map's text: the start of its tokens' sha256."""
    return hashlib.sha256(" ".join(map_.tokens).encode()).hexdigest()[:12]


def probabilities_of(maps: Sequence[Map], classifier: Classifier) -> Probabilities:
    """The probabilities that a classifier gives to each map."""
    return classifier.classify(torch.cat([grid_of(labelled) for labelled in maps])).numpy()


def grid_of(map_: Map) -> Float[torch.Tensor, "1 channel row column"]:
    """The grid of a map; raises as `check`."""
    check(map_)
    return pool(torch.from_numpy(map_.attention)[None, None], torch.from_numpy(map_.classes)[None])[:, 0]


def check(map_: Map) -> None:
    """Raise `HeadscopeError` if a map is too short or too long."""
    if not LEAST_TOKENS <= len(map_.tokens) <= MOST_TOKENS:
        raise HeadscopeError(
            f"map {map_.id} has {len(map_.tokens)} tokens; maps have {LEAST_TOKENS} to {MOST_TOKENS}: leave it out"
        )


def labels_of(maps: Sequence[Map]) -> Labels:
    """The number of each map's label in `PATTERNS`."""
    return np.array([PATTERNS.index(labelled.label) for labelled in maps])


def frequent(labels: Labels) -> list[int]:
    """The patterns that have enough maps for an F1; where none has, those that have any."""
    counts = np.bincount(labels)
    return np.flatnonzero(counts >= (LEAST_MAPS if counts.max() >= LEAST_MAPS else 1)).tolist()


def scores(
    labels: Labels, probabilities: Probabilities, texts: Sequence[str], classes: Sequence[int]
) -> dict[str, Any]:
    """Accuracy, F1 by class, their mean over `classes`, the confusion matrix, and the calibration error.

    `*_ci` are 95% bootstrap intervals over texts, 1,000 resamples.
    """
    predicted = probabilities.argmax(-1)
    confusion = confusions(labels, predicted, np.ones((1, len(labels))))
    group = np.unique(list(texts), return_inverse=True)[1]
    # number of times that each resample has each map: texts are resampled, with all their maps
    draws = poisson_draws(range(group.max() + 1), seed=0, resamples=RESAMPLES)[:, group]
    resampled = confusions(labels, predicted, draws)
    return {
        "n": len(labels),
        "accuracy": float(_accuracy(confusion)[0]),
        "accuracy_ci": interval(_accuracy(resampled)).tolist(),
        "macro_f1": float(f1(confusion)[:, classes].mean(-1)[0]),
        "macro_f1_ci": interval(f1(resampled)[:, classes].mean(-1)).tolist(),
        "macro_f1_over": [PATTERNS[number] for number in classes],
        "f1": _named(f1(confusion)[0]),
        "n_by_class": _named(confusion[0].sum(-1).astype(int)),
        "confusion": {PATTERNS[row]: _named(counts.astype(int)) for row, counts in enumerate(confusion[0])},
        "calibration_error": calibration_error(labels, probabilities),
    }


def confusions(
    labels: Labels, predicted: Labels, weights: Float[np.ndarray, "resample map"]
) -> Float[np.ndarray, "resample label predicted"]:
    """Confusion matrices: numbers of maps by label and predicted pattern, each map counted `weights` times."""
    cells = np.eye(len(PATTERNS) ** 2)[labels * len(PATTERNS) + predicted]
    return (weights @ cells).reshape(-1, len(PATTERNS), len(PATTERNS))  # [resample, label, predicted]


def f1(confusion: Float[np.ndarray, "resample label predicted"]) -> Float[np.ndarray, "resample pattern"]:
    """The harmonic mean of precision and recall; 0 for a class that is neither a label nor predicted."""
    right = np.diagonal(confusion, axis1=1, axis2=2)
    return 2 * right / np.maximum(confusion.sum(1) + confusion.sum(2), 1)


def calibration_error(labels: Labels, probabilities: Probabilities) -> float:
    """Expected calibration error: distance of confidence and accuracy in ten bins of confidence, mean over maps."""
    confidence, right = probabilities.max(-1), probabilities.argmax(-1) == labels
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs((confidence - right)[bins == number].sum()) for number in range(BINS)]
    return float(np.sum(gaps) / len(labels))


def _accuracy(confusion: Float[np.ndarray, "resample label predicted"]) -> Float[np.ndarray, " resample"]:
    return np.trace(confusion, axis1=1, axis2=2) / np.maximum(confusion.sum((1, 2)), 1)


def _named(values: np.ndarray) -> Mapping[str, Any]:
    return dict(zip(PATTERNS, values.tolist(), strict=True))
