"""Attention to earlier copies, and to planted pairs, as variables of a result."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from headscope.results.variables import (
    Count,
    Label,
    Variables,
    add_held_out,
    add_place,
    by_layer,
    place_labels,
    places,
)
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.studies.induction.observer import HeadAttention
from headscope.studies.induction.relations import DEPTHS, RELATIONS
from headscope.studies.induction.scores import RepetitionScore

REPEATS = "induction heads (Olsson et al. 2022), on random tokens"
PLANTED = "planted pairs of random tokens"
MADE = "made texts"  # not the documents of the corpus
SHARE = "share of attention"
OF_HEADS = ("layer", "head")
Heads = tuple[int, ...]
Arrays = dict[str, xr.DataArray]


def of_relations(prefix: str, scores: Sequence[RepetitionScore], heads: Heads) -> Arrays:
    """Attention along links of each relation beside that without a repetition.

    * `prefix`: "" for repeated random tokens, "natural_" for the corpus.
    """
    where, of = ("in the corpus" if prefix else "in repeated random tokens"), (*OF_HEADS, "relation")
    labels = {
        f"{prefix}attention": Label(f"attention along links {where}", SHARE, of),
        f"{prefix}control": Label(f"attention where nothing is repeated, beside links {where}", SHARE, of),
        f"{prefix}gain": Label(f"attention along links {where} less that where nothing is repeated", SHARE, of),
        f"{prefix}q_value": Label(f"false discovery rate of a gain {where}", "rate", of),
        f"{prefix}special": Label(
            f"whether the gain {where} is {GAIN} or more, with q < {RATE}, in {LEAST_CASES} tokens", "1 if so", of
        ),
    }
    variables = Variables({"relation": RELATIONS}, REPEATS, labels, resampled="" if prefix else MADE)
    _add_scores(variables, prefix, scores, heads, ("relation",))
    return variables.arrays


def of_best(best: Sequence[BestHead | None], heads: Heads) -> Arrays:
    """The head that gains most on one half of the repeated sequences, scored on the other."""
    of = ("relation",)
    labels = {
        **place_labels("the head that gains most on one half of the sequences", *of),
        "chosen_attention": Label("attention of the chosen head along links, on the other half", SHARE, of),
        "chosen_control": Label("attention of the chosen head without a repetition, on the other half", SHARE, of),
        "chosen_gain": Label("gain of the chosen head, on the other half", SHARE, of),
    }
    variables = Variables({"relation": RELATIONS}, REPEATS, labels, resampled=MADE)
    add_place(variables, best, heads)
    cases = column(best, lambda one: int(one.held_out.count), 0)
    count = Count(cases, "tokens with such links on the other half", "tokens", of)
    add_held_out(variables, best, ("chosen_attention", "chosen_control", "chosen_gain"), count)
    return variables.arrays


def of_uniform(repeated: HeadAttention, fresh: HeadAttention) -> Arrays:
    """The attention along links of a layer that attends uniformly to the tokens it sees."""
    label = Label("attention of uniform heads along links in repeated random tokens", SHARE, ("layer", "relation"))
    variables = Variables({"relation": RELATIONS}, "each layer's visible tokens", {"uniform": label})
    sums = np.concatenate([repeated.uniform[..., :2], fresh.uniform[..., 2:]], axis=-1).sum(0)
    variables.add("uniform", sums / fresh.queries.sum(0))
    return variables.arrays


def of_pairs(
    scores: Sequence[Sequence[RepetitionScore]], best: Sequence[BestHead | None], contexts: Sequence[int], heads: Heads
) -> Arrays:
    """Attention from the end of a text to a pair planted in it, by the text's length and the pair's depth.

    * `scores`: for each length, of each depth; `best`: the best head over all depths, for each length.
    """
    dims, of = ("context", "depth"), (*OF_HEADS, "context", "depth")
    labels = {
        "planted_attention": Label("attention to the token behind an earlier copy in a text", SHARE, of),
        "planted_control": Label("attention to the same place without the copy", SHARE, of),
        "planted_gain": Label("attention behind an earlier copy in a text less that without the copy", SHARE, of),
        "planted_q_value": Label("false discovery rate of a gain at a planted pair", "rate", of),
        "planted_special": Label(
            f"whether the gain at a planted pair is {GAIN} or more at each depth, with q < {RATE}", "1 if so", of[:3]
        ),
        "finder_layer": Label("layer of the head that gains most at planted pairs, on one half", "layer", dims[:1]),
        "finder_head": Label("number in its layer of that head", "head", dims[:1]),
        "finder_gain": Label("gain of that head at a planted pair, on the other half", SHARE, dims),
        "finder_mean_gain": Label("gain of that head over all depths, on the other half", SHARE, dims[:1]),
    }
    variables = Variables({"context": list(contexts), "depth": list(DEPTHS)}, PLANTED, labels, resampled=MADE)
    shape = (len(contexts), len(DEPTHS))
    _add_scores(variables, "planted_", [score for of_depths in scores for score in of_depths], heads, dims, shape)
    gain, q = (variables.arrays[f"planted_{name}"] for name in ("gain", "q_value"))
    special = ((gain >= GAIN) & (q < RATE)).all("depth").where(gain.notnull().any("depth"))
    variables.add("planted_special", special.transpose(*of[:3]).values)
    indices = places(heads)
    for number, name in enumerate(OF_HEADS):
        variables.add(f"finder_{name}", column(best, lambda one, at=number: indices[one.selected.head][at]))
    means, bounds = held_out_scores(best, [*range(len(DEPTHS) + 1)])
    texts = Count(column(best, lambda one: int(one.held_out.count), 0), "texts on the other half", "texts", dims[:1])
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
        np.where(np.isnan(gain), np.nan, np.stack([one.gain.p_above_zero for one in scores], axis=1))
    )
    variables.add(f"{prefix}q_value", placed(list(q.T)))
    if dims == ("relation",):
        special = np.where(np.isnan(gain), np.nan, (gain >= GAIN) & (q < RATE) & (cases >= LEAST_CASES))
        variables.add(f"{prefix}special", placed(list(special.T)))
