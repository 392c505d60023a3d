"""Agreement of two annotators: share of maps and Cohen's kappa (Cohen 1960)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.studies.patterns.labels.labelled_maps import labels

Agreement = dict[str, int | float | dict[str, int]]


def agreement(first: str | Path, second: str | Path) -> Agreement:
    """Agreement of two files of labels on the maps (by id) that both have labels for.

    Returns: `n_maps`, `agreement` (share of maps), `kappa`, and `differ`, the differing labels with counts.
    Raises `HeadscopeError` if they have no labelled map in common.
    """
    mine, others = ({id: label for id, label in labels(path).items() if label} for path in (first, second))
    if not (both := sorted(mine.keys() & others.keys())):
        raise HeadscopeError(f"'{first}' and '{second}' have no labelled map in common; name labels of the same maps")
    pairs = [(mine[id], others[id]) for id in both]
    differ = Counter(f"{one} / {other}" for one, other in pairs if one != other)
    same = sum(one == other for one, other in pairs) / len(pairs)
    one, other = zip(*pairs, strict=True)
    return {"n_maps": len(both), "agreement": same, "kappa": kappa(one, other), "differ": dict(differ.most_common())}


def kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Cohen's kappa: agreement beyond what the labels' frequencies alone would give, as a share of what there could be.

    1 where both give all items one and the same label.

    >>> kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """
    n = len(first)
    same = sum(one == other for one, other in zip(first, second, strict=True)) / n
    one, other = Counter(first), Counter(second)
    chance = sum(one[label] * other[label] for label in one) / n**2
    return 1.0 if chance == 1 else (same - chance) / (1 - chance)
