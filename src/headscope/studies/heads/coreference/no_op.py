"""Whether the chosen head of a kind of mention looks at special tokens from words that are no such mention.

Clark et al. 2019, section 3.2. To a mention that has an antecedent the function applies, to other words it does not.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.split_half import BestHead
from headscope.studies.heads.coreference.scores import AntecedentPredictions, Draws


def no_op(
    kinds: Mapping[str, AntecedentPredictions],
    best: Mapping[str, BestHead | None],
    draws: Draws,
    selection_half: Bool[np.ndarray, " unit"],
) -> dict[str, Tally]:
    """For each kind of mention with a chosen head, its attention to special tokens on the half that did not choose it.

    Returns: tallies over inputs of the mean of the mentions, of the other words, and of the latter minus the former.
    """
    tallies = {}
    for kind, head in best.items():
        if head is not None:
            cases = kinds[kind]
            cases = cases[~selection_half[cases.unit] & ~np.isnan(cases.sink_others[:, head.selected.head])]
            tallies[kind] = _tally(cases, head.selected.head, draws)
    return tallies


def _tally(cases: AntecedentPredictions, head: int, draws: Draws) -> Tally:
    """Each input weighs the same, however many mentions it has."""
    _, first, input, counts = np.unique(cases.input, return_index=True, return_inverse=True, return_counts=True)
    applies, otherwise = (
        np.bincount(input, values[:, head].astype(np.float64), len(counts)) / np.maximum(counts, 1)
        for values in (cases.sink, cases.sink_others)
    )
    return tally_by_input(np.column_stack([applies, otherwise, otherwise - applies]), cases.unit[first], draws)
