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
    ones, others = [_centred(vectors) for vectors in ones], [_centred(vectors) for vectors in others]
    own = [np.array([np.square(vectors.T @ vectors).sum() for vectors in group]) for group in (ones, others)]
    products = np.array([[np.square(other.T @ one).sum() for other in others] for one in ones])
    return _divided(products, *own)


def own_alignments(vectors: Sequence[Vectors]) -> Float[np.ndarray, "one other"]:
    """Linear centred kernel alignment of each of the vectors with each other, and with itself: 1.

    >>> own_alignments([np.eye(3), 2 * np.eye(3)]).round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    vectors = [_centred(vector) for vector in vectors]
    products = np.empty((len(vectors), len(vectors)))
    for row, one in enumerate(vectors):
        for column, other in enumerate(vectors[: row + 1]):
            products[row, column] = products[column, row] = np.square(other.T @ one).sum()
    return _divided(products, products.diagonal(), products.diagonal())


def _divided(products: np.ndarray, ones: np.ndarray, others: np.ndarray) -> Float[np.ndarray, "one other"]:
    """Squared norms of the products by the norms of both sides; NaN for vectors that are all the same."""
    size = np.sqrt(ones[:, None] * others)
    return np.divide(products, size, out=np.full(size.shape, np.nan), where=size > 0)


def _centred(vectors: Vectors) -> Vectors:
    centred = vectors - vectors.mean(0, dtype=np.float64)
    size = np.linalg.norm(centred)
    # Of size 1, so that no product of large norms overflows or loses digits.
    return (centred / size if size > 0 else centred).astype(np.float32)
