"""Self-similarity of tokens in resamples of documents: a document that is drawn twice adds no new occurrence."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.geometry.samples import Occurrences
from headscope.studies.layers.geometry.similarity import by_space

Draws = Float[np.ndarray, "resample occurrence"]


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


def resampled_cosine(rows: Occurrences, group: np.ndarray, draws: Draws) -> Float[np.ndarray, "resample space"]:
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
    draws: Draws,
) -> Float[np.ndarray, "resample space"]:
    """Sums over pairs of different documents, drawn so often together, and over pairs within a document, so often."""
    of_two = ((draws @ (values * apart)) * draws).sum(-1)  # [space, resample]
    of_one = (values * within).sum(-1) @ draws.T
    return (of_two + of_one).T
