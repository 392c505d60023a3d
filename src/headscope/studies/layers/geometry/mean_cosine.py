"""Mean cosines of random tokens and of [CLS], over pairs of different documents."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8
from scipy.sparse import csr_array

from headscope.statistics.intervals import Score, effective_units

Draws = Float[np.ndarray, "resample document"] | UInt8[np.ndarray, "resample document"]
Units = Float[np.ndarray, "occurrence width"]


def mean_cosine(units: Float[np.ndarray, "*space occurrence width"]) -> Float[np.ndarray, "*space"]:
    """The mean cosine over all pairs of different vectors of length 1; NaN for fewer than two.

    >>> mean_cosine(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(3).item()
    0.333
    """
    number = units.shape[-2]
    if number < 2:
        return np.full(units.shape[:-2], np.nan)
    total = np.square(units.sum(-2, dtype=np.float64)).sum(-1)
    return (total - np.square(units, dtype=np.float64).sum((-2, -1))) / (number * (number - 1))


def mean_cosine_score(
    spaces: Sequence[Float[np.ndarray, "occurrence width"]], documents: Int[np.ndarray, " occurrence"], draws: Draws
) -> Score:
    """The mean cosine of two vectors of different documents in each space, with its resamples of documents.

    Tokens of one document are alike for another reason, and a resample that has a document twice has more such pairs.
    Of a single document all pairs count, and there is no interval.

    * `documents`: the column of `draws` that has each occurrence.
    """
    counts = np.bincount(documents, minlength=draws.shape[1]).astype(np.float64)
    totals = _sums_by_document(spaces, documents, draws.shape[1])
    resampled = between(totals, counts, draws)
    if len(np.unique(documents)) < 2:
        means = np.array([mean_cosine(units) for units in spaces])
    else:
        means = between(totals, counts, np.ones((1, draws.shape[1])))[0]
    return Score(means, resampled, len(documents), float(effective_units(draws @ counts)), of_pairs=True)


def mean_cosine_between(units: Units, documents: Int[np.ndarray, " occurrence"]) -> float:
    """The mean cosine of two vectors of different documents; of a single document, of all pairs."""
    return float(mean_cosine_score([units], documents, np.ones((1, int(documents.max(initial=0)) + 1))).mean[0])


def _sums_by_document(
    spaces: Sequence[Units], documents: Int[np.ndarray, " occurrence"], number: int
) -> Float[np.ndarray, "space document width"]:
    rows = np.arange(len(documents))
    member = csr_array((np.ones(len(documents), np.float32), (documents, rows)), (number, len(documents)))
    return np.stack([member @ units for units in spaces])


def between(
    totals: Float[np.ndarray, "space document width"], counts: Float[np.ndarray, " document"], draws: Draws
) -> Float[np.ndarray, "resample space"]:
    """The mean over pairs of different documents, drawn so often; NaN where a resample has no such pair."""
    drawn, squared = draws.astype(np.float32), np.square(draws, dtype=np.float64)
    products = np.stack([np.square(drawn @ space).sum(1, dtype=np.float64) for space in totals], axis=1)
    squares = squared @ np.square(totals, dtype=np.float64).sum(-1).T
    pairs = (np.square(draws @ counts) - squared @ np.square(counts))[:, None]
    return np.divide(products - squares, pairs, out=np.full(squares.shape, np.nan), where=pairs > 0)
