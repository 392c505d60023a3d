"""Attention of heads along links beside that along links that mean nothing, and the best head of each relation."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.models import Model
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.split_half import BestHead, Selection, best_head, split_of
from headscope.studies.heads.induction.observer import HeadAttention
from headscope.studies.heads.induction.relations import CONTROLS, DUPLICATE, INDUCTION, PREVIOUS

Draws = UInt8[np.ndarray, "resample input"]


@dataclass(frozen=True)
class Trials(Columns):
    """A row for each input.

    * `linked`, `control`: attention along the links of each relation, and along those that they are compared with,
      summed over `queries` tokens.
    """

    input: Int[np.ndarray, " input"]
    unit: Int[np.ndarray, " input"]
    linked: Float[np.ndarray, "input head relation"]
    control: Float[np.ndarray, "input head relation"]
    queries: Int[np.ndarray, "input relation"]


def of_repeats(repeated: HeadAttention, fresh: HeadAttention, layers: Int[np.ndarray, " head"]) -> Trials:
    """Repeated sequences beside those without a repetition; the previous token is that of the latter.

    * `layers`: the layer of each head, from 0.
    """
    linked, control = repeated.linked.copy(), fresh.linked.copy()
    linked[..., PREVIOUS] = fresh.linked[..., PREVIOUS]
    control[..., PREVIOUS] = fresh.uniform[:, layers, PREVIOUS]
    return Trials(repeated.input, repeated.unit, linked, control, fresh.queries)


def of_corpus(read: HeadAttention, layers: Int[np.ndarray, " head"]) -> Trials:
    """The repetitions of a corpus beside links of the same distances."""
    linked, control = (np.empty((*read.linked.shape[:2], 3), read.linked.dtype) for _ in range(2))
    for relation in (INDUCTION, DUPLICATE):
        linked[..., relation] = read.linked[..., relation]
        control[..., relation] = read.linked[..., CONTROLS[relation]]
    linked[..., PREVIOUS] = read.linked[..., PREVIOUS]
    control[..., PREVIOUS] = read.uniform[:, layers, PREVIOUS]
    return Trials(read.input, read.unit, linked, control, read.queries[:, :3])


def of_pairs(planted: HeadAttention, unplanted: HeadAttention) -> Trials:
    """Planted pairs beside the same places without them; a row for each text, with all depths of one length."""
    units = np.unique(planted.unit)
    rows = [planted[planted.unit == unit] for unit in units]
    linked = np.stack([some.linked.sum(0) for some in rows])
    queries = np.stack([some.queries.sum(0) for some in rows])
    return Trials(units, units, linked, unplanted.linked, queries)


@dataclass(frozen=True)
class RepetitionScore:
    """Scores of all heads for one relation: tallies of attention, of the control, and of the difference."""

    attention: Tally
    control: Tally
    gain: Tally


def score(trials: Trials, seed: int, resamples: int) -> list[RepetitionScore]:
    """The scores of all heads for each relation."""
    draws = split_of(trials.input, trials.unit, seed, resamples).draws
    return [_scores(trials, relation, draws) for relation in range(trials.linked.shape[-1])]


def best_heads(trials: Trials, seed: int, resamples: int) -> list[BestHead | None]:
    """The head that is best on one half of the inputs for each relation.

    Its scores on the other half are attention, control and gain.
    """
    split = split_of(trials.input, trials.unit, seed, resamples)
    numbers = range(trials.linked.shape[-1])
    return [_best(trials, relation, split.draws, split.selection_half) for relation in numbers]


def _scores(trials: Trials, relation: int, draws: Draws) -> RepetitionScore:
    linked, control = (part[..., relation].astype(np.float64) for part in (trials.linked, trials.control))
    queries = trials.queries[:, relation]
    tallies = (_tally(part, trials, queries, draws) for part in (linked, control, linked - control))
    return RepetitionScore(*tallies)


def _tally(
    values: Float[np.ndarray, "input head"], trials: Trials, queries: Int[np.ndarray, " input"], draws: Draws
) -> Tally:
    kept = queries > 0
    return tally_by_input(values[kept], trials.input[kept], draws, queries[kept])


def _best(trials: Trials, relation: int, draws: Draws, half: Bool[np.ndarray, " input"]) -> BestHead | None:
    trials = trials[trials.queries[:, relation] > 0]

    def gain(part: Trials) -> Float[np.ndarray, "input head"]:
        return (part.linked[..., relation] - part.control[..., relation]).astype(np.float64)

    def select(part: Trials) -> Selection:
        return Selection(int(gain(part).sum(0).argmax()))

    def evaluate(part: Trials, selected: Selection) -> Tally:
        values = [sums[:, selected.head, relation] for sums in (part.linked, part.control)]
        rows = np.stack([*values, values[0] - values[1]], axis=1).astype(np.float64)
        return tally_by_input(rows, part.input, draws, part.queries[:, relation])

    return best_head(trials, half[trials.input], select, evaluate)


def best_over_depths(trials: Trials, seed: int, resamples: int) -> BestHead | None:
    """The head that gains most over all depths in one half of the texts.

    Its scores on the other half are the gain at each depth, and their mean.
    """
    split = split_of(trials.input, trials.unit, seed, resamples)

    def gain(part: Trials) -> Float[np.ndarray, "text head depth"]:
        return (part.linked - part.control).astype(np.float64)

    def select(part: Trials) -> Selection:
        return Selection(int(gain(part).sum((0, 2)).argmax()))

    def evaluate(part: Trials, selected: Selection) -> Tally:
        depths = gain(part)[:, selected.head]
        return tally_by_input(np.concatenate([depths, depths.mean(1, keepdims=True)], axis=1), part.input, split.draws)

    return best_head(trials, split.selection_half[trials.input], select, evaluate)


def layers_of(model: Model) -> Int[np.ndarray, " head"]:
    """The layer of each head, from 0; heads of all layers in a row."""
    return np.repeat(np.arange(len(model.capture.heads)), model.capture.heads)
