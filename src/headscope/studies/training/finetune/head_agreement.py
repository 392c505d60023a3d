"""Which numbers of heads are those of all runs, and which are one run's."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from headscope.results.variables import by_layer
from headscope.statistics.rank_correlation import agreements, jackknife, mean_agreement
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
    same = agreements(kinds, lambda one, other: float((one == other).mean()))
    matrices = [agreements(importance), agreements(similarity), same, agreements(entropy)]
    first = importance >= np.sort(importance, axis=1)[:, -max(importance.shape[1] // TOP, 1), None]
    commonest = np.max([(kinds == kind).mean(0) for kind in range(MIXED, focus.shape[-1])], axis=0)
    by_head = {
        "important_runs": first.mean(0),
        "run_importance": importance.mean(0),
        "run_similarity": similarity.mean(0),
        "same_kind_runs": commonest,
    }
    return {
        "head_agreement": np.array([mean_agreement(matrix) for matrix in matrices]),
        "head_agreement_ci": np.array([jackknife(matrix) for matrix in matrices]),
    } | {name: by_layer(values, heads) for name, values in by_head.items()}


def kinds_of(focus: Float[np.ndarray, "run head focus"]) -> Int[np.ndarray, "run head"]:
    """The number of what each head gives most attention to, if that is 0.4 or more; else -1."""
    return np.where(focus.max(-1) >= SHARE, focus.argmax(-1), MIXED)
