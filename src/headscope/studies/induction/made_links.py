"""The links of made inputs: to earlier copies and behind them, to the token before, and to a planted pair."""

import numpy as np

from headscope.studies.induction.relations import DUPLICATE, INDUCTION, PREVIOUS, Links

# Shares of a text at which a pair is planted.
DEPTHS = (0.1, 0.3, 0.5, 0.7, 0.9)


def repeat_links(length: int, repeats: int) -> Links:
    """Links of each token of a later copy to the tokens after its earlier copies, and to these.

    >>> repeat_links(3, 2).tolist()[:3]
    [[0, 3, 1], [1, 3, 0], [0, 4, 2]]
    """
    rows = []
    for query in range(length, length * repeats):
        for copy in range(query % length, query, length):
            rows += [(INDUCTION, query, copy + 1)] if copy + 1 < query else []
            rows.append((DUPLICATE, query, copy))
    return np.array(rows)


def previous_links(length: int) -> Links:
    """Links of each token but the first to the one before."""
    return np.array([(PREVIOUS, query, query - 1) for query in range(1, length)])


def places_of(context: int) -> list[int]:
    """Where the first token of a pair stands, by depth.

    >>> places_of(100)
    [10, 29, 48, 68, 87]
    """
    return [round(depth * (context - 3)) for depth in DEPTHS]
