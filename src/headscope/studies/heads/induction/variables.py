"""Attention to earlier copies and planted pairs, sinks, distances, windows and copying as variables of a result."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float, Int
from scipy.stats import beta

from headscope.passes.settings import Settings
from headscope.results.variables import Count, Variables, add_held_out, add_place, by_layer, places
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores, split_of
from headscope.studies.heads.induction import HEADS, STUDY
from headscope.studies.heads.induction.copying import Copying
from headscope.studies.heads.induction.observer import FOCI, HeadAttention
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
    add_held_out(variables, best, ("chosen_attention", "chosen_control", "chosen_gain"), "tokens with such links")
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


def of_corpus(read: HeadAttention, heads: Heads, settings: Settings) -> Arrays:
    """Attention to sinks, and the distance of what is attended to, over the inputs of the corpus."""
    variables = Variables({"focus": FOCI}, STUDY.source, STUDY.labels)
    draws = split_of(read.input, read.unit, settings.seed, settings.resamples).draws
    tallies = [_over_inputs(read.to[..., focus], read, read.present[:, focus], draws) for focus in range(len(FOCI))]
    shares = [_over_inputs(read.share[..., focus], read, read.present[:, focus], draws) for focus in range(len(FOCI))]
    count = Count([int(tally.count) for tally in tallies], "inputs that have them", "inputs", ("focus",))
    variables.add(
        "sink_attention",
        by_layer(np.stack([tally.mean for tally in tallies], axis=1), heads),
        interval=by_layer(np.stack([tally.interval for tally in tallies], axis=1), heads),
        count=count,
    )
    variables.add("sink_share", np.stack([tally.mean for tally in shares], axis=1))
    distance = _over_inputs(read.distance, read, np.ones(len(read), dtype=bool), draws)
    variables.add(
        "mean_distance", by_layer(distance.mean, heads), interval=by_layer(distance.interval, heads), count=len(read)
    )
    return variables.arrays


def _over_inputs(values: Float[np.ndarray, "input head"], read: HeadAttention, kept: Any, draws: Any) -> Tally:
    return tally_by_input(values[kept].astype(np.float64), read.input[kept], draws)


def of_norms(norms: Tally, heads: Heads) -> Arrays:
    """How long what a head moves from a sink is, beside what it moves from other tokens."""
    variables = Variables({"focus": FOCI}, STUDY.source, STUDY.labels)
    count = Count(norms.count, "inputs whose values are read", "inputs", ("focus",))
    interval = by_layer(norms.interval, heads)
    variables.add("value_norm", by_layer(norms.mean, heads), interval=interval, count=count)
    return variables.arrays


def of_windows(farthest: Int[np.ndarray, "layer 2"], windows: Float[np.ndarray, " layer"], tokens: int) -> Arrays:
    """The largest distances that each layer sees, by attention and by the configuration."""
    variables = Variables({}, STUDY.source, STUDY.labels)
    variables.add("farthest_back", farthest[:, 0])
    variables.add("farthest_forward", farthest[:, 1])
    if np.isfinite(windows).any():
        variables.add("window", np.where(np.isinf(windows), np.nan, windows))
    variables.add("farthest_possible", tokens - 1)
    return variables.arrays


def of_copying(copying: Copying, heads: Heads) -> Arrays:
    """How much each head raises the logit of what it looks at."""
    tokens = len(copying.own)
    variables = Variables({}, STUDY.source, STUDY.labels, resampled="tokens of the vocabulary")
    for name, shares in (("copying", copying.own), ("copying_most", copying.most)):
        mean, hits = shares.mean(0), shares.sum(0)
        bounds = [beta.ppf(0.025, hits, tokens - hits + 1), beta.ppf(0.975, hits + 1, tokens - hits)]
        bounds = np.stack([np.where(hits == 0, 0, bounds[0]), np.where(hits == tokens, 1, bounds[1])], axis=-1)
        count = Count(tokens, "tokens of the vocabulary that were tried", "tokens")
        variables.add(name, by_layer(mean, heads), interval=by_layer(bounds, heads), count=count)
    variables.add("copying_eigenvalues", by_layer(copying.eigenvalues, heads))
    variables.add("copying_q_value", by_layer(benjamini_hochberg(copying.p), heads))
    return variables.arrays
