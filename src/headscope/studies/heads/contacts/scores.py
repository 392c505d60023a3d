"""How many of the highest pairs are contacts: of each head, of a regression over all, and of the distance alone."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sklearn
from jaxtyping import Bool, Float, Int
from sklearn.linear_model import LogisticRegression

from headscope.studies.heads.contacts.observer import PairRows

TOPS = {"L/5": 5, "L/2": 2, "L": 1}
FOLDS, DRAWN, PENALTY = 5, 20, 0.15  # DRAWN: pairs for each contact that a regression is fitted to
# From version 1.8 on the penalty is a ratio.
OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
L1: dict[str, Any] = {"penalty": "l1"} if OLD else {"l1_ratio": 1.0}
Scores = Float[np.ndarray, " pair"]
Fit = Callable[[PairRows, PairRows], Scores]


def precision(
    scores: Float[np.ndarray, "pair score"], contact: Bool[np.ndarray, " pair"], length: int
) -> Float[np.ndarray, "score top"]:
    """The share of contacts among the L/5, L/2 and L pairs with the highest scores; equal scores share their places.

    >>> precision(np.array([[0.9], [0.5], [0.5], [0.1]]), np.array([True, True, False, False]), 2).tolist()
    [[1.0, 1.0, 0.75]]
    """
    ordered, columns = -np.sort(-scores, axis=0), []
    for part in TOPS.values():
        number = min(max(1, length // part), len(scores))
        last = ordered[number - 1]
        above, equal = scores > last, scores == last
        left = (number - above.sum(0)) * (equal & contact[:, None]).sum(0) / equal.sum(0)
        columns.append(((above & contact[:, None]).sum(0) + left) / number)
    return np.stack(columns, axis=-1)


def by_sequence(rows: PairRows, scores: Float[np.ndarray, "pair score"]) -> Float[np.ndarray, "sequence score top"]:
    """The precision in each sequence, in the order of their numbers."""
    parts = list(sequence_slices(rows))
    return np.stack([precision(scores[pairs], rows.contact[pairs], int(rows.length[pairs.start])) for pairs in parts])


def sequence_slices(rows: PairRows) -> Iterator[slice]:
    """The pairs of each sequence."""
    starts = np.flatnonzero(np.diff(rows.input, prepend=-1))
    yield from map(slice, starts.tolist(), [*starts[1:].tolist(), len(rows)])


def held_out(rows: PairRows, fit: Fit, seed: int) -> Scores | None:
    """What `fit` predicts of each pair from the sequences of other folds; None for a single sequence or document."""
    names, unit = np.unique(rows.unit, return_inverse=True)
    if len(names) < 2:
        return None
    fold = (np.random.default_rng(seed).permutation(len(names)) % FOLDS)[unit]
    scores = np.zeros(len(rows))
    for number in np.unique(fold).tolist():
        test = fold == number
        scores[test] = fit(rows[~test], rows[test])
    return scores


def regression(train: PairRows, test: PairRows) -> Scores:
    """The logits of a logistic regression over all heads (Rao et al. 2021, section 3.2)."""
    drawn = train[_drawn(train.contact)]
    if drawn.contact.all() or not drawn.contact.any():
        return np.zeros(len(test))
    scale = drawn.scores.std(0)
    scale[scale == 0] = 1
    model = LogisticRegression(solver="liblinear", C=PENALTY, random_state=0, max_iter=1000, **L1)
    model.fit(drawn.scores / scale, drawn.contact)
    return model.decision_function(test.scores / scale)


def best_head(train: PairRows, test: PairRows) -> Scores:
    """The scores of the head with the highest precision at L."""
    return test.scores[:, by_sequence(train, train.scores)[..., -1].mean(0).argmax()]


def distance(train: PairRows, test: PairRows) -> Scores:
    """How often pairs of the same distance are contacts, with a pair as common as the mean for each distance."""
    far = train.second - train.first
    size = int(max(far.max(), (test.second - test.first).max())) + 1
    contacts, pairs = np.bincount(far, train.contact, size), np.bincount(far, minlength=size)
    return ((contacts + train.contact.mean()) / (pairs + 1))[test.second - test.first]


def _drawn(contact: Bool[np.ndarray, " pair"]) -> Int[np.ndarray, " drawn"]:
    """All contacts, and this many other pairs for each."""
    others = np.flatnonzero(~contact)
    number = min(len(others), DRAWN * int(contact.sum()))
    chosen = np.random.default_rng(0).choice(others, number, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(contact), chosen]))
