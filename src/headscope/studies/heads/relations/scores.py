"""Means of link attention with intervals, tests, the best head of one half scored on the other, and its no-op."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, best_head
from headscope.studies.heads.relations.link_attention import DIRECTIONS, LinkAttention, with_either

Draws = UInt8[np.ndarray, "resample input"]
# Rows of the held-out scores of a best head.
HELD_OUT = ("attention", "elsewhere", "others", "gain", "gain_others")


@dataclass(frozen=True)
class LinkScore:
    """Attention of all heads to the links of one relation, heads of all layers in a row, [head, direction].

    * `linked`: tally over all rows. The others are over the rows that have baselines:
    * `elsewhere`, `others`: tallies of the baselines; `gain`, `gain_others`: how much more attention links get.
    * `p`: p-value that a head gives its links no more than one of the baselines.
    """

    linked: Tally
    elsewhere: Tally
    others: Tally
    gain: Tally
    gain_others: Tally
    p: Float[np.ndarray, "head direction"]


def score(rows: LinkAttention, draws: Draws) -> LinkScore:
    """The scores of all heads on the rows of a relation; `draws`: how often each resample has each input.

    The test is the exact, one-sided sign test: were links like a baseline, each would get more in one of two
    sentences. Beside it stands a t test over inputs or documents, whose sentences depend on each other. The largest
    p-value of both tests and both baselines is that of not being better than both.
    """
    compared = rows[rows.compared]
    linked, elsewhere, others = map(with_either, (compared.matched, compared.elsewhere, compared.one_end_moved))
    gains = (linked - elsewhere, linked - others)
    tallies = [tally_by_input(values, compared.input, draws) for values in (elsewhere, others, *gains)]
    by_sentence = [better((gain > 0).sum(0), (gain < 0).sum(0)) for gain in gains]
    by_unit = [gain.p_above_zero for gain in tallies[2:]]
    return LinkScore(
        tally_by_input(with_either(rows.linked), rows.input, draws),
        *tallies,
        p=np.maximum.reduce([*by_sentence, *by_unit]),
    )


def best(rows: LinkAttention, draws: Draws, selection_half: Bool[np.ndarray, " input"]) -> BestHead | None:
    """The head and direction that gain most in the inputs of `selection_half`, scored in the others.

    Returns: the best head with the scores of `HELD_OUT`; None where one of the halves has no row with baselines.
    """

    def evaluate(rows: LinkAttention, selected: Selection) -> Tally:
        linked, elsewhere, others = (
            values[:, selected.head, selected.direction].astype(np.float64)
            for values in (rows.matched, rows.elsewhere, rows.one_end_moved)
        )
        values = np.stack([linked, elsewhere, others, linked - elsewhere, linked - others], axis=1)
        return tally_by_input(values, rows.input, draws)

    rows = rows[rows.compared]
    return best_head(rows, selection_half[rows.input], lambda rows: Selection(*largest_gain(rows)), evaluate)


def least_gain(rows: LinkAttention) -> Float[np.ndarray, "head direction"]:
    """Smaller gain in attention of links relative to the baselines: the mean over the rows that have baselines."""
    rows = rows[rows.compared]
    linked, *both = (values.mean(0, dtype=np.float64) for values in (rows.matched, rows.elsewhere, rows.one_end_moved))
    return linked - np.maximum(*both)


def mean_gain(rows: LinkAttention) -> float:
    """The mean over heads of `least_gain`, source to target; NaN where no row has baselines."""
    return float(least_gain(rows)[:, 0].mean()) if rows.compared.any() else float("nan")


def largest_gain(rows: LinkAttention) -> tuple[int, int]:
    """The head and direction of the largest `least_gain`."""
    gain = least_gain(rows)
    head, direction = np.unravel_index(gain.argmax(), gain.shape)
    return int(head), int(direction)


def no_op(
    relations: Mapping[str, LinkAttention],
    best: Mapping[str, BestHead | None],
    draws: Draws,
    selection_half: Bool[np.ndarray, " input"],
) -> dict[str, Tally]:
    """For each relation with a chosen head that looks one way, its attention to special tokens on the other half.

    Clark et al. 2019, section 3.2. A link applies to the end that looks: its source, or its target the other way round.

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
