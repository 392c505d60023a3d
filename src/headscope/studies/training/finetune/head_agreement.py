"""Which numbers of heads are those of all runs, and which are one run's."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import t

from headscope.results.variables import by_layer
from headscope.statistics.rank_correlation import spearman
from headscope.studies.training.finetune.seeds import Values

NUMBERS = ("importance", "similarity", "kind", "entropy")
# A head that gives this share of its attention or more is of that kind, as on the cards of heads.
SHARE = 0.4
MIXED = -1
TOP = 10


def head_agreement(runs: Sequence[Mapping[str, np.ndarray]]) -> Values:
    """How far runs agree on their heads, and on which; empty with fewer than two runs that were measured.

    * `runs`: the numbers of heads of each run, see `training.head_numbers`.

    >>> numbers = dict.fromkeys(("importance", "similarity", "entropy"), np.arange(4.0))
    >>> numbers |= {"focus": np.eye(4), "heads": [2, 2]}
    >>> made = head_agreement([numbers, numbers | {"importance": -np.arange(4.0)}])
    >>> made["head_agreement"].tolist(), made["important_runs"].tolist()
    ([-1.0, 1.0, 1.0, 1.0], [[0.5, 0.0], [0.0, 0.5]])
    """
    measured = [one for one in runs if one]
    if len(measured) < 2:
        return {}
    importance, similarity, focus, entropy = (
        np.stack([one[name] for one in measured]).astype(float)
        for name in ("importance", "similarity", "focus", "entropy")
    )
    heads, kinds = tuple(int(number) for number in measured[0]["heads"]), kinds_of(focus)
    of_pairs = [_pairs(importance, spearman), _pairs(similarity, spearman), _pairs(kinds, _same)]
    of_pairs.append(_pairs(entropy, spearman))
    bounds = [jackknife(matrix) for matrix in of_pairs]
    first = importance >= np.sort(importance, axis=1)[:, -max(importance.shape[1] // TOP, 1), None]
    commonest = np.max([(kinds == kind).mean(0) for kind in range(MIXED, focus.shape[-1])], axis=0)
    by_head = {
        "important_runs": first.mean(0),
        "run_importance": importance.mean(0),
        "run_similarity": similarity.mean(0),
        "same_kind_runs": commonest,
    }
    return {
        "head_agreement": np.array([_mean(matrix) for matrix in of_pairs]),
        "head_agreement_ci": np.array(bounds),
    } | {name: by_layer(values, heads) for name, values in by_head.items()}


def kinds_of(focus: Float[np.ndarray, "run head focus"]) -> Int[np.ndarray, "run head"]:
    """The number of what each head gives most attention to, if that is 0.4 or more; else -1."""
    return np.where(focus.max(-1) >= SHARE, focus.argmax(-1), MIXED)


def jackknife(matrix: Float[np.ndarray, "run run"]) -> Float[np.ndarray, " bound"]:
    """The 95% interval of the mean over pairs of runs, by leaving out one run after the other; NaN below three runs."""
    runs = len(matrix)
    if runs < 3:
        return np.full(2, np.nan)
    without = [_mean(np.delete(np.delete(matrix, run, 0), run, 1)) for run in range(runs)]
    error = np.sqrt((runs - 1) * np.var(without))
    return np.clip(_mean(matrix) + float(t.ppf(0.975, runs - 1)) * error * np.array([-1, 1]), -1, 1)


def _pairs(
    values: np.ndarray, agree: Callable[[np.ndarray, np.ndarray], float | np.ndarray]
) -> Float[np.ndarray, "run run"]:
    """How far each two runs agree."""
    matrix = np.ones((len(values), len(values)))
    for one, other in combinations(range(len(values)), 2):
        matrix[one, other] = matrix[other, one] = agree(values[one], values[other])
    return matrix


def _mean(matrix: np.ndarray) -> float:
    """The mean over pairs of different runs."""
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


def _same(one: np.ndarray, other: np.ndarray) -> float:
    return float((one == other).mean())
