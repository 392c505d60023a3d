"""Sinks, distances, windows and copying as variables of a result."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import beta

from headscope.passes.settings import Settings
from headscope.results.variables import Count, Variables, by_layer
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import split_of
from headscope.studies.heads.induction import STUDY
from headscope.studies.heads.induction.copying import Copying
from headscope.studies.heads.induction.observer import FOCI, HeadAttention
from headscope.studies.heads.induction.variables import Arrays, Heads


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
