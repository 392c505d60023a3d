"""The faithfulness of importances: what the target loses without the most important tokens, and keeps with them alone.

DeYoung et al. 2020, section 4: comprehensiveness and sufficiency, here from the points of a deletion and an insertion
curve; beside them the rank correlation with blank-out (Abnar and Zuidema 2020, section 4).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.statistics.columns import Columns
from headscope.statistics.rank_correlation import spearman

# The shares of an input's tokens that are blanked, or kept; the curves begin at 0 and end at 1.
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7)
ORDERS = 5  # random orders, whose mean is one baseline
Scores = Callable[[Bool[np.ndarray, "variant token"]], Float[np.ndarray, " variant"]]


@dataclass(frozen=True)
class Faithfulness(Columns):
    """A row for each scored input; NaN where a method was not taken.

    * `index`: the number of the input in its corpus; `unit`: of what is resampled with it, its document or itself.
    * `full`, `nothing`: the target with all tokens, and with all of them blanked.
    * `deletion`, `insertion`: the target without the most important share of tokens, and with that share alone.
    * `correlation`: with blank-out, over tokens; `random_deletion`, `random_insertion`: of tokens in random order.
    """

    index: Int[np.ndarray, " input"]
    unit: Int[np.ndarray, " input"]
    full: Float[np.ndarray, " input"]
    nothing: Float[np.ndarray, " input"]
    deletion: Float[np.ndarray, "input method layer share"]
    insertion: Float[np.ndarray, "input method layer share"]
    correlation: Float[np.ndarray, "input method layer"]
    random_deletion: Float[np.ndarray, "input share"]
    random_insertion: Float[np.ndarray, "input share"]


def faithfulness(
    importance: Float[np.ndarray, "method layer token"], scores: Scores, index: int, seed: int, unit: int | None = None
) -> Faithfulness:
    """The faithfulness of the importances of one input's tokens: those that may be blanked.

    * `scores`: the target for each row of blanked tokens; rows are given once each.
    * `unit`: of what the input is resampled with, by default itself.
    """
    tokens = importance.shape[-1]
    counts = top_counts(tokens)
    random = np.random.Generator(np.random.Philox(key=[seed, index]))
    orders = np.argsort(random.random((ORDERS, tokens)), axis=-1)
    taken = np.isfinite(importance).all((1, 2)).reshape(len(importance))
    # [method, layer, share, token]
    ranks = np.argsort(np.argsort(-importance[taken], axis=-1, kind="stable"), axis=-1)  # the first of equals first
    top = ranks[..., None, :] < counts[:, None]
    random_top = orders[:, None] < counts[:, None]  # [order, share, token]
    blocks = [
        np.zeros((1, tokens), bool),
        np.ones((1, tokens), bool),
        np.eye(tokens, dtype=bool),
        top.reshape(-1, tokens),
        ~top.reshape(-1, tokens),
        random_top.reshape(-1, tokens),
        ~random_top.reshape(-1, tokens),
    ]
    distinct, number = np.unique(np.concatenate(blocks), axis=0, return_inverse=True)
    values = scores(distinct)[number.reshape(-1)]
    full, nothing, single, deleted, inserted, random_deleted, random_inserted = np.split(
        values, np.cumsum([len(block) for block in blocks])[:-1]
    )
    curves = (_filled(curve.reshape(top.shape[:-1]), taken) for curve in (deleted, inserted))
    agreement = spearman(importance, np.broadcast_to(full - single, importance.shape))
    means = (curve.reshape(ORDERS, -1).mean(0) for curve in (random_deleted, random_inserted))
    numbers = np.array(index), np.array(index if unit is None else unit)
    rows = (*numbers, full[0], nothing[0], *curves, agreement, *means)
    return Faithfulness(*(np.asarray(value)[None] for value in rows))


def top_counts(tokens: int) -> Int[np.ndarray, " share"]:
    """The number of tokens of each share: at least 1.

    >>> top_counts(20).tolist(), top_counts(2).tolist()
    ([2, 4, 6, 10, 14], [1, 1, 1, 1, 1])
    """
    return np.maximum(1, np.floor(np.array(SHARES) * tokens + 0.5).astype(int))


def comprehensiveness(rows: Faithfulness) -> Float[np.ndarray, "input method layer"]:
    """What the target loses without the most important tokens, averaged over shares."""
    return rows.full[:, None, None] - rows.deletion.mean(-1)


def sufficiency(rows: Faithfulness) -> Float[np.ndarray, "input method layer"]:
    """What the target loses if only the most important tokens are kept, averaged over shares: low is good."""
    return rows.full[:, None, None] - rows.insertion.mean(-1)


def _filled(curves: Float[np.ndarray, "taken layer share"], taken: Bool[np.ndarray, " method"]) -> np.ndarray:
    filled = np.full((len(taken), *curves.shape[1:]), np.nan)
    filled[taken] = curves
    return filled
