"""Mean cosines over pairs of vectors, in resamples of documents: of random tokens, [CLS], and occurrences of a token.

A document that is drawn twice adds no new occurrence.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from scipy.sparse import csr_array

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.geometry.samples import Occurrences
from headscope.studies.layers.geometry.similarity import by_space

Draws = Float[np.ndarray, "resample document"] | UInt8[np.ndarray, "resample document"]
OccurrenceDraws = Float[np.ndarray, "resample occurrence"]
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
    own = squared @ np.square(totals, dtype=np.float64).sum(-1).T
    pairs = (np.square(draws @ counts) - squared @ np.square(counts))[:, None]
    return np.divide(products - own, pairs, out=np.full(own.shape, np.nan), where=pairs > 0)


def self_similarity_score(
    rows: Occurrences,
    groups: Sequence[np.ndarray],
    values: Float[np.ndarray, "token space"],
    seed: int,
    resamples: int,
) -> Score:
    """The mean cosine of the occurrences of a token, over tokens, with its resamples of documents.

    * `groups`: the rows of each token; `values`: its mean cosine.
    """
    documents, column = np.unique(rows.document, return_inverse=True)
    draws = poisson_draws(documents.tolist(), seed, resamples)
    of_tokens = [resampled_cosine(rows, group, draws[:, column[group]]) for group in groups]
    there = np.isfinite(of_tokens)
    total, number = np.where(there, of_tokens, 0.0).sum(0), there.sum(0)  # each [resample, space]
    resampled = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    counts = np.bincount(column[np.concatenate(groups)], minlength=len(documents))
    return Score(values.mean(0), resampled, len(groups), float(effective_units(draws @ counts)))


def resampled_cosine(
    rows: Occurrences, group: np.ndarray, draws: OccurrenceDraws
) -> Float[np.ndarray, "resample space"]:
    """The mean cosine of one token; NaN where a resample has no two of its occurrences."""
    units = by_space(rows.unit[group])
    cosines = (units @ units.mT).astype(np.float64)
    apart = np.asarray(rows.document[group][:, None] != rows.document[group])
    within = ~apart & ~np.eye(len(group), dtype=bool)
    total = _pairs(cosines, apart, within, draws)
    number = _pairs(np.ones((1, *apart.shape)), apart, within, draws)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def _pairs(
    values: Float[np.ndarray, "space one other"],
    apart: Bool[np.ndarray, "one other"],
    within: Bool[np.ndarray, "one other"],
    draws: OccurrenceDraws,
) -> Float[np.ndarray, "resample space"]:
    """Sums over pairs of different documents, drawn so often together, and over pairs within a document, so often."""
    of_two = ((draws @ (values * apart)) * draws).sum(-1)  # [space, resample]
    of_one = (values * within).sum(-1) @ draws.T
    return (of_two + of_one).T
