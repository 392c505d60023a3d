"""Attention to earlier copies, and to planted pairs, as variables of a result."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, add_held_out, add_place, by_layer, places
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.studies.heads.induction import HEADS, STUDY
from headscope.studies.heads.induction.observer import HeadAttention
from headscope.studies.heads.induction.relations import DEPTHS, RELATIONS
from headscope.studies.heads.induction.scores import RepetitionScore

MADE = "made texts"  # not the documents of the corpus
Heads = tuple[int, ...]
Arrays = dict[str, xr.DataArray]


def of_relations(prefix: str, scores: Sequence[RepetitionScore], heads: Heads) -> Arrays:
    """Attention along links of each relation beside that without a repetition.

    * `prefix`: "" for repeated random tokens, "natural_" for the corpus.
    """
    variables = Variables({"relation": RELATIONS}, STUDY.source, STUDY.labels, resampled="" if prefix else MADE)
    _add_scores(variables, prefix, scores, heads, ("relation",))
    return variables.arrays


def of_best(best: Sequence[BestHead | None], heads: Heads) -> Arrays:
    """The head that gains most on one half of the repeated sequences, scored on the other."""
    variables = Variables({"relation": RELATIONS}, STUDY.source, STUDY.labels, resampled=MADE)
    add_place(variables, best, heads)
    cases = column(best, lambda head: int(head.held_out.count), 0)
    count = Count(cases, "tokens with such links on the other half", "tokens", ("relation",))
    add_held_out(variables, best, ("chosen_attention", "chosen_control", "chosen_gain"), count)
    return variables.arrays


def of_uniform(repeated: HeadAttention, fresh: HeadAttention) -> Arrays:
    """The attention along links of a layer that attends uniformly to the tokens it sees."""
    variables = Variables({"relation": RELATIONS}, STUDY.source, STUDY.labels)
    sums = np.concatenate([repeated.uniform[..., :2], fresh.uniform[..., 2:]], axis=-1).sum(0)
    variables.add("uniform", sums / fresh.queries.sum(0))
    return variables.arrays


def of_pairs(
    scores: Sequence[Sequence[RepetitionScore]], best: Sequence[BestHead | None], contexts: Sequence[int], heads: Heads
) -> Arrays:
    """Attention from the end of a text to a pair planted in it, by the text's length and the pair's depth.

    * `scores`: for each length, of each depth; `best`: the best head over all depths, for each length.
    """
    dims = ("context", "depth")
    coords = {"context": list(contexts), "depth": list(DEPTHS)}
    variables = Variables(coords, STUDY.source, STUDY.labels, resampled=MADE)
    shape = (len(contexts), len(DEPTHS))
    _add_scores(variables, "planted_", [score for of_depths in scores for score in of_depths], heads, dims, shape)
    gain, q = (variables.arrays[f"planted_{name}"] for name in ("gain", "q_value"))
    special = ((gain >= GAIN) & (q < RATE)).all("depth").where(gain.notnull().any("depth"))
    variables.add("planted_special", special.transpose(*HEADS, "context").values)
    indices = places(heads)
    for number, name in enumerate(HEADS):
        variables.add(f"finder_{name}", column(best, lambda head, column=number: indices[head.selected.head][column]))
    means, bounds = held_out_scores(best, [*range(len(DEPTHS) + 1)])
    texts = Count(column(best, lambda head: int(head.held_out.count), 0), "texts on the other half", "texts", dims[:1])
    variables.add("finder_gain", means[:, :-1], interval=bounds[:, :-1], count=texts)
    variables.add("finder_mean_gain", means[:, -1], interval=bounds[:, -1], count=texts)
    return variables.arrays


def _add_scores(
    variables: Variables,
    prefix: str,
    scores: Sequence[RepetitionScore],
    heads: Heads,
    dims: Sequence[str],
    shape: tuple[int, ...] = (-1,),
) -> None:
    """Add attention, control, gain, q-value and whether a head is special; `dims` have the shape `shape`."""

    def placed(values: Sequence[np.ndarray]) -> np.ndarray:
        stacked = by_layer(np.stack(values, axis=1), heads)  # [layer, head, relation, ...]
        return stacked.reshape(*stacked.shape[:2], *shape, *stacked.shape[3:])

    cases = np.array([int(score.attention.count) for score in scores])
    count = Count(cases.reshape(shape), "tokens with such links", "tokens", dims)
    for name in ("attention", "control", "gain"):
        tallies: list[Tally] = [getattr(score, name) for score in scores]
        interval = None if name == "control" else placed([tally.interval for tally in tallies])
        variables.add(
            f"{prefix}{name}", placed([tally.mean for tally in tallies]), interval=interval,
            count=None if name == "control" else count,
        )  # fmt: skip
    gain = np.stack([score.gain.mean for score in scores], axis=1)
    q = benjamini_hochberg(
        np.where(np.isnan(gain), np.nan, np.stack([score.gain.p_above_zero for score in scores], axis=1))
    )
    variables.add(f"{prefix}q_value", placed(list(q.T)))
    if dims == ("relation",):
        special = np.where(np.isnan(gain), np.nan, (gain >= GAIN) & (q < RATE) & (cases >= LEAST_CASES))
        variables.add(f"{prefix}special", placed(list(special.T)))
