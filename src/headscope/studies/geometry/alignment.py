"""Linear centred kernel alignment of two representations of the same tokens (Kornblith et al. 2019)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Vectors = Float[np.ndarray, "row width"]


def alignments(ones: Sequence[Vectors], others: Sequence[Vectors]) -> Float[np.ndarray, "one other"]:
    """Linear centred kernel alignment of each of `ones` with each of `others`, from 0 to 1.

    With centred columns, |Y'X|^2 / (|X'X| |Y'Y|) in Frobenius norms: no matrix of rows by rows is made.

    >>> vectors = np.random.default_rng(0).normal(size=(50, 4))
    >>> alignments([vectors], [3 * vectors + 1, vectors[::-1]]).round(2)[0, 0]
    np.float64(1.0)
    """
    ones, others = [_centred(each) for each in ones], [_centred(each) for each in others]
    own = [[np.linalg.norm(each.T @ each) for each in group] for group in (ones, others)]
    scores = np.empty((len(ones), len(others)))
    for row, one in enumerate(ones):
        for column, other in enumerate(others):
            size = own[0][row] * own[1][column]
            scores[row, column] = np.square(other.T @ one).sum() / size if size > 0 else np.nan
    return scores


def _centred(vectors: Vectors) -> Vectors:
    centred = vectors - vectors.mean(0, dtype=np.float64)
    size = np.linalg.norm(centred)
    # Of size 1, so that no product of large norms overflows or loses digits.
    return (centred / size if size > 0 else centred).astype(np.float32)
