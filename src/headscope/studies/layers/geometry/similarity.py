"""Cosines of the occurrences of a token, dimensions that add most to cosines, and alignment of layers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.geometry.mean_cosine import mean_cosine
from headscope.studies.layers.geometry.samples import Occurrences, of_length_one

# Occurrences that a token must have to count (Ethayarajh 2019, section 3.3).
LEAST_CONTEXTS = 5
# Differences of position of two occurrences, in tokens: the first and the last of each class.
GAPS = {"same": (0, 0), "1-4": (1, 4), "5-16": (5, 16), "17+": (17, 10**9)}
SEGMENTS = ("same", "different")
# Dimensions that are named.
SHARES = 3
DEVIATIONS = 3.0
Units = Float[np.ndarray, "occurrence width"]
Vectors = Float[np.ndarray, "row width"]
Draws = Float[np.ndarray, "resample occurrence"]


def centred(vectors: Float[np.ndarray, "occurrence width"]) -> Float[np.ndarray, "occurrence width"]:
    """The vectors minus their mean, divided by their norm."""
    moved = vectors - vectors.mean(0)
    return moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def shared(vectors: Float[np.ndarray, "occurrence width"]) -> float:
    """The share of the mean squared length that is the mean vector's: 1 for vectors that are all the same."""
    mean = np.square(vectors.mean(0, dtype=np.float64)).sum()
    return float(mean / max(np.square(vectors, dtype=np.float64).sum(1).mean(), np.finfo(np.float64).tiny))


def explained(
    units: Float[np.ndarray, "*space occurrence width"], norm: Float[np.ndarray, "*space occurrence"]
) -> Float[np.ndarray, "*space"]:
    """Maximum explainable variance: the largest squared singular value over the sum of all (Ethayarajh 2019, 3.3)."""
    vectors = units.astype(np.float64) * norm[..., None]
    squared = np.linalg.eigvalsh(vectors @ vectors.mT)
    return squared[..., -1] / np.maximum(squared.sum(-1), np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class TokenScores:
    """Scores of each token of the vocabulary with enough occurrences, by space.

    * `self_similarity`: mean cosine of its occurrences; `explained`: maximum explainable variance, and `chance`: that
      of as many random tokens.
    * `gaps`, `gap_pairs`: sums of cosines over pairs of occurrences whose positions differ by each of `GAPS`, and the
      numbers of these pairs; `segments`, `segment_pairs`: by `SEGMENTS`, over pairs of occurrences in text pairs.
    """

    self_similarity: Float[np.ndarray, "token space"]
    explained: Float[np.ndarray, "token space"]
    chance: Float[np.ndarray, "token space"]
    gaps: Float[np.ndarray, "token space gap"]
    gap_pairs: Int[np.ndarray, "token gap"]
    segments: Float[np.ndarray, "token space segment"]
    segment_pairs: Int[np.ndarray, "token segment"]


def token_scores(repeated: Occurrences, random: Occurrences, seed: int) -> TokenScores:
    """The scores of the tokens of a sample; `random` are random tokens, for `chance`."""
    groups, spaces = token_groups(repeated.token), repeated.norm.shape[1]
    values = np.empty((len(groups), spaces, 3 + len(GAPS) + len(SEGMENTS)))
    pairs = np.empty((len(groups), len(GAPS) + len(SEGMENTS)), dtype=np.int64)
    for number, group in enumerate(groups):
        generator = np.random.default_rng([seed, number])
        other = generator.choice(len(random), min(len(group), len(random)), replace=False)
        masks = np.array(_classes(repeated, group)).reshape(pairs.shape[1], -1)  # [class, pair]
        pairs[number] = masks.sum(1)
        units = by_space(repeated.unit[group])
        cosines = (units @ units.mT).reshape(spaces, -1)  # [space, pair]
        variance = explained(units, repeated.norm[group].T)
        chance = explained(by_space(random.unit[other]), random.norm[other].T)
        values[number] = np.column_stack([mean_cosine(units), variance, chance, cosines @ masks.T.astype(np.float64)])
    itself, variance, chance = np.moveaxis(values[..., :3], -1, 0)  # each [token, space]
    gaps, segments = np.split(values[..., 3:], [len(GAPS)], axis=-1)
    return TokenScores(itself, variance, chance, gaps, pairs[:, : len(GAPS)], segments, pairs[:, len(GAPS) :])


def by_space(units: Float[np.ndarray, "occurrence space width"]) -> Float[np.ndarray, "space occurrence width"]:
    """Vectors of length 1 by space, in single precision."""
    return np.ascontiguousarray(of_length_one(units).swapaxes(0, 1))


def token_groups(token: Int[np.ndarray, " occurrence"]) -> list[np.ndarray]:
    """The rows of each token that has enough occurrences."""
    order = np.argsort(token, kind="stable")
    _, starts = np.unique(token[order], return_index=True)
    return [group for group in np.split(order, starts[1:]) if len(group) >= LEAST_CONTEXTS]


def _classes(rows: Occurrences, group: np.ndarray) -> list[np.ndarray]:
    """Masks of the pairs of occurrences, each pair once, of each of `GAPS`, then of each of `SEGMENTS`."""
    once = np.triu(np.ones((len(group), len(group)), dtype=bool), 1)
    position, segment = rows.position[group], rows.segment[group]
    gap = abs(position[:, None] - position)
    both = once & rows.paired[group, None] & rows.paired[group]
    same = segment[:, None] == segment
    by_gap = [once & (gap >= least) & (gap <= most) for least, most in GAPS.values()]
    return [*by_gap, both & same, both & ~same]


def largest_shares(units: Units) -> tuple[Int[np.ndarray, " rank"], Float[np.ndarray, " rank"]]:
    """The dimensions that add most to the mean cosine of random tokens (Timkey and van Schijndel 2021, section 3).

    * `units`: vectors of length 1; the mean cosine is the squared length of their mean, a sum over dimensions.

    Returns: the numbers of the `SHARES` largest, from 0, and their shares of the sum.
    """
    added = np.square(units.mean(0, dtype=np.float64))
    order = np.argsort(-added, kind="stable")[:SHARES]
    return order, added[order] / max(added.sum(), np.finfo(np.float64).tiny)


def without(units: Units, dimensions: Int[np.ndarray, " rank"]) -> Units:
    """The vectors without some dimensions, of length 1 again."""
    kept = np.delete(units, dimensions, axis=1)
    return kept / np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def outliers(vectors: Float[np.ndarray, "occurrence width"]) -> int:
    """The number of dimensions whose mean is more than 3 standard deviations from the mean of all dimensions."""
    means = vectors.mean(0, dtype=np.float64)
    return int((abs(means - means.mean()) > DEVIATIONS * means.std()).sum())


def alignments(ones: Sequence[Vectors], others: Sequence[Vectors]) -> Float[np.ndarray, "one other"]:
    """Linear centred kernel alignment of each of `ones` with each of `others`, from 0 to 1.

    With centred columns, |Y'X|^2 / (|X'X| |Y'Y|) in Frobenius norms: no matrix of rows by rows is made.

    >>> vectors = np.random.default_rng(0).normal(size=(50, 4))
    >>> alignments([vectors], [3 * vectors + 1, vectors[::-1]]).round(2)[0, 0]
    np.float64(1.0)
    """
    ones, others = [_centred(vectors) for vectors in ones], [_centred(vectors) for vectors in others]
    norms = [np.array([np.square(vectors.T @ vectors).sum() for vectors in group]) for group in (ones, others)]
    products = np.array([[np.square(second.T @ first).sum() for second in others] for first in ones])
    return _divided(products, *norms)


def own_alignments(vectors: Sequence[Vectors]) -> Float[np.ndarray, "one other"]:
    """Linear centred kernel alignment of each of the vectors with each other, and with itself: 1.

    >>> own_alignments([np.eye(3), 2 * np.eye(3)]).round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    vectors = [_centred(vector) for vector in vectors]
    products = np.empty((len(vectors), len(vectors)))
    for row, first in enumerate(vectors):
        for column, other in enumerate(vectors[: row + 1]):
            products[row, column] = products[column, row] = np.square(other.T @ first).sum()
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


def self_similarity_score(
    rows: Occurrences, groups: Sequence[np.ndarray], values: Float[np.ndarray, "token space"], seed: int, resamples: int
) -> Score:
    """The mean cosine of the occurrences of a token, over tokens, with its resamples of documents.

    A document that is drawn twice adds no new occurrence.

    * `groups`: the rows of each token; `values`: its mean cosine.
    """
    documents, column = np.unique(rows.document, return_inverse=True)
    draws = poisson_draws(documents.tolist(), seed, resamples)
    by_token = [resampled_cosine(rows, group, draws[:, column[group]]) for group in groups]
    there = np.isfinite(by_token)
    total, number = np.where(there, by_token, 0.0).sum(0), there.sum(0)  # each [resample, space]
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
    twice = ((draws @ (values * apart)) * draws).sum(-1)  # [space, resample]
    once = (values * within).sum(-1) @ draws.T
    return (twice + once).T
