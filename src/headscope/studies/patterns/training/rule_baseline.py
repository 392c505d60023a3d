"""The baseline: three numbers of a map, as `profile` has them, and a threshold for each.

* column: the largest attention that a key gets, mean over queries (feature attention, without a feature);
* diagonal: attention to the previous, the same or the next token, whichever is largest (attention offset);
* block: how even attention is over the query's segment, or over all tokens, whichever is larger: 1 less the total
  variation from even attention.

A map is block where that is above its threshold, else vertical and diagonal where these are, else heterogeneous.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from jaxtyping import Float, Int

from headscope.results.vocabulary import OFFSETS, PATTERNS, TOKEN_CLASSES
from headscope.studies.patterns.labels.labelled_maps import Map

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
    return np.array([[_column(each), _diagonal(each), _block(each)] for each in maps])


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
    return max(1 - abs(map_.attention - each).sum(1).mean() / 2 for each in even)
