"""Distances and depths of the words of a sentence in its tree."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Int
from scipy.sparse.csgraph import shortest_path

from headscope.encoding.parsed_sentences import ROOT, Parsed

PUNCTUATION = "punct"


def distances(heads: Int[np.ndarray, " word"]) -> Int[np.ndarray, "word word"]:
    """The number of edges between two words.

    * `heads`: of each word, counted from 1; 0 for the root.

    >>> distances(np.array([2, 0, 2]))
    array([[0, 1, 2],
           [1, 0, 1],
           [2, 1, 0]])
    """
    edges = np.zeros((len(heads), len(heads)))
    dependents = np.flatnonzero(heads != ROOT)
    edges[dependents, heads[dependents] - 1] = 1
    found = shortest_path(edges, directed=False, unweighted=True)
    # Two roots, which a broken tree may have, are as far apart as a sentence is long.
    return np.where(np.isfinite(found), found, len(heads)).astype(np.int64)


def depths(heads: Int[np.ndarray, " word"]) -> Int[np.ndarray, " word"]:
    """The number of edges between each word and its root.

    >>> depths(np.array([2, 0, 2, 3]))
    array([1, 0, 1, 2])
    """
    return distances(heads)[:, heads == ROOT].min(1, initial=len(heads))


def scored(sentence: Parsed) -> Bool[np.ndarray, " word"]:
    """Mask of the words that are no punctuation."""
    return sentence.relations != PUNCTUATION


class GoldTrees:
    """Distances and depths of sentences, as small integers."""

    def __init__(self, sentences: Sequence[Parsed]):
        each = [distances(sentence.heads) for sentence in sentences]
        kind = np.int16 if any(len(sentence) > np.iinfo(np.uint8).max for sentence in sentences) else np.uint8
        self.distances = [torch.from_numpy(one.astype(kind)) for one in each]
        self.depths = [torch.from_numpy(depths(sentence.heads).astype(kind)) for sentence in sentences]
