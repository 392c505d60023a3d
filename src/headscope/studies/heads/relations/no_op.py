"""Whether the chosen head of a relation looks at special tokens from words that no such link begins at.

Clark et al. 2019, section 3.2. A link applies to the end that looks: its source, or its target the other way round.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.split_half import BestHead
from headscope.studies.heads.relations.link_attention import DIRECTIONS, LinkAttention
from headscope.studies.heads.relations.scores import Draws


def no_op(
    relations: Mapping[str, LinkAttention],
    best: Mapping[str, BestHead | None],
    draws: Draws,
    selection_half: Bool[np.ndarray, " input"],
) -> dict[str, Tally]:
    """For each relation with a chosen head that looks one way, its attention to special tokens on the other half.

    Returns: tallies over inputs of the ends that look, of other words, and of the latter minus the former.
    """
    tallies = {}
    for relation, head in best.items():
        if head is None or DIRECTIONS[head.selected.direction] == "either":
            continue
        rows = relations[relation]
        rows = rows[~selection_half[rows.input]]
        applies, otherwise = (
            values[:, head.selected.head, head.selected.direction].astype(np.float64)
            for values in (rows.sink, rows.sink_others)
        )
        values = np.column_stack([applies, otherwise, otherwise - applies])
        measured = ~np.isnan(values).any(1)
        tallies[relation] = tally_by_input(values[measured], rows.input[measured], draws)
    return tallies
