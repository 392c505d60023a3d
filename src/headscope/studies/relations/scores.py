"""From what was found to scores: means with intervals, tests, and heads chosen apart from their score."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.statistics.bootstrap import Tally, merge, tally
from headscope.statistics.significance import better
from headscope.studies.relations.link_attention import Found, with_either

# Sentences are resampled so many at a time.
TOGETHER = 1024
Draws = UInt8[np.ndarray, "resample input"]


@dataclass(frozen=True)
class Score:
    """What the heads of a model give to the links of one relation, heads of all layers in a row, [head, direction].

    * `linked`: a tally over all rows. The others are over those that can be compared:
    * `elsewhere`, `others`: tallies of the baselines, and `gain`, `gain_others`: by how much links get more.
    * `p`: of each head giving its links no more than one of the baselines.
    """

    linked: Tally
    elsewhere: Tally
    others: Tally
    gain: Tally
    gain_others: Tally
    p: Float[np.ndarray, "head direction"]


@dataclass(frozen=True)
class Chosen:
    """The head and direction that gain most on one half of the inputs, scored on the other.

    * `head`: in the row of all heads, and `direction`: its number in `DIRECTIONS`, without "either".
    * `held_out`: a tally of `HELD_OUT`.
    """

    head: int
    direction: int
    held_out: Tally


HELD_OUT = ("attention", "elsewhere", "others", "gain", "gain_others")


def score(rows: Found, draws: Draws) -> Score:
    """The score of each head on these rows; `draws` says how often each resample has each input.

    The test is the exact, one-sided sign test: were links like a baseline, each would get more in one of two
    sentences. The larger p-value of the two baselines is that of not being better than both.
    """
    compared = rows[rows.compared]
    linked, elsewhere, others = map(with_either, (compared.linked, compared.elsewhere, compared.others))
    gains = (linked - elsewhere, linked - others)
    inputs = compared.input
    return Score(
        tallied(with_either(rows.linked), rows.input, draws),
        *(tallied(values, inputs, draws) for values in (elsewhere, others, *gains)),
        p=np.maximum(*(better((gain > 0).sum(0), (gain < 0).sum(0)) for gain in gains)),
    )


def chosen(rows: Found, draws: Draws, choosing: Bool[np.ndarray, " input"]) -> Chosen | None:
    """The head and direction that gain most in the inputs of `choosing`, scored in the others; None without both."""
    rows = rows[rows.compared]
    first, second = rows[choosing[rows.input]], rows[~choosing[rows.input]]
    if not (len(first) and len(second)):
        return None
    head, direction = best(first)
    found = (second.linked, second.elsewhere, second.others)
    its, elsewhere, others = (values[:, head, direction].astype(np.float64) for values in found)
    values = np.stack([its, elsewhere, others, its - elsewhere, its - others], axis=1)
    return Chosen(head, direction, tallied(values, second.input, draws))


def least_gain(rows: Found) -> Float[np.ndarray, "head direction"]:
    """By how much links get more than either baseline does, in the mean over rows that can be compared."""
    rows = rows[rows.compared]
    linked, *both = (values.mean(0, dtype=np.float64) for values in (rows.linked, rows.elsewhere, rows.others))
    return linked - np.maximum(*both)


def best(rows: Found) -> tuple[int, int]:
    """The head and direction of the largest `least_gain`."""
    gain = least_gain(rows)
    head, direction = np.unravel_index(gain.argmax(), gain.shape)
    return int(head), int(direction)


def tallied(values: Float[np.ndarray, "row head *dims"], inputs: Int[np.ndarray, " row"], draws: Draws) -> Tally:
    """The tally of values over rows, one of each input."""
    valid = np.ones((len(values), *values.shape[2:]), dtype=bool)
    parts = [slice(first, first + TOGETHER) for first in range(0, max(1, len(values)), TOGETHER)]
    return merge(tally(values[part], valid[part], draws[:, inputs[part]].astype(float)) for part in parts)
