"""Sinks, distances, windows and copying as variables of a result."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import beta

from headscope.passes.settings import Settings
from headscope.results.variables import Count, Label, Variables, by_layer
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import split_of
from headscope.studies.induction.copying import Copying
from headscope.studies.induction.observer import FOCI, HeadAttention
from headscope.studies.induction.variables import OF_HEADS, SHARE, Arrays, Heads

CIRCUIT = "Elhage et al. 2021, copying by the circuit from input to output embeddings"
SINKS, NORMS = "attention sinks (Xiao et al. 2024)", "Kobayashi et al. 2020, section 2"


def of_corpus(read: HeadAttention, heads: Heads, settings: Settings) -> Arrays:
    """Attention to sinks, and the distance of what is attended to, over the inputs of the corpus."""
    labels = {
        "sink_attention": Label(
            "attention to the first token, delimiters and punctuation", SHARE, (*OF_HEADS, "focus")
        ),
        "sink_share": Label("what uniform attention gives them", SHARE, ("layer", "focus")),
        "mean_distance": Label("mean distance of what a token attends to", "tokens", OF_HEADS),
    }
    variables = Variables({"focus": FOCI}, SINKS, labels)
    draws = split_of(read.input, read.unit, settings.seed, settings.resamples).draws
    tallies = [_over_inputs(read.to[..., focus], read, read.present[:, focus], draws) for focus in range(len(FOCI))]
    shares = [_over_inputs(read.share[..., focus], read, read.present[:, focus], draws) for focus in range(len(FOCI))]
    count = Count([int(one.count) for one in tallies], "inputs that have them", "inputs", ("focus",))
    variables.add(
        "sink_attention",
        by_layer(np.stack([one.mean for one in tallies], axis=1), heads),
        interval=by_layer(np.stack([one.interval for one in tallies], axis=1), heads),
        count=count,
    )
    variables.add("sink_share", np.stack([one.mean for one in shares], axis=1))
    distance = _over_inputs(read.distance, read, np.ones(len(read), dtype=bool), draws)
    variables.add(
        "mean_distance", by_layer(distance.mean, heads), interval=by_layer(distance.interval, heads), count=len(read)
    )
    return variables.arrays


def _over_inputs(values: Float[np.ndarray, "input head"], read: HeadAttention, kept: Any, draws: Any) -> Tally:
    return tally_by_input(values[kept].astype(np.float64), read.input[kept], draws)


def of_norms(norms: Tally, heads: Heads) -> Arrays:
    """How long what a head moves from a sink is, beside what it moves from other tokens."""
    words = "length of what a head moves from a sink, over that from other tokens"
    variables = Variables({"focus": FOCI}, NORMS, {"value_norm": Label(words, "ratio", (*OF_HEADS, "focus"))})
    count = Count(norms.count, "inputs whose values are read", "inputs", ("focus",))
    interval = by_layer(norms.interval, heads)
    variables.add("value_norm", by_layer(norms.mean, heads), interval=interval, count=count)
    return variables.arrays


def of_windows(farthest: Int[np.ndarray, "layer 2"], windows: Float[np.ndarray, " layer"], tokens: int) -> Arrays:
    """The largest distances that each layer sees, by attention and by the configuration."""
    labels = {
        "farthest_back": Label("largest distance back that some head gives attention", "tokens", ("layer",)),
        "farthest_forward": Label("largest distance forward that some head gives attention", "tokens", ("layer",)),
        "window": Label(
            "largest distance that the layer sees by the configuration, if it says so", "tokens", ("layer",)
        ),
        "farthest_possible": Label("largest distance in the input in which they are measured", "tokens"),
    }
    variables = Variables({}, "an input of random tokens", labels)
    variables.add("farthest_back", farthest[:, 0])
    variables.add("farthest_forward", farthest[:, 1])
    if np.isfinite(windows).any():
        variables.add("window", np.where(np.isinf(windows), np.nan, windows))
    variables.add("farthest_possible", tokens - 1)
    return variables.arrays


def of_copying(copying: Copying, heads: Heads) -> Arrays:
    """How much each head raises the logit of what it looks at."""
    labels = {
        "copying": Label("tokens whose own logit a head raises above the mean", "share of tokens", OF_HEADS),
        "copying_most": Label("tokens whose own logit a head raises more than all others", "share of tokens", OF_HEADS),
        "copying_eigenvalues": Label(
            "eigenvalues of the circuit: their sum over the sum of their absolute values", "from -1 to 1", OF_HEADS
        ),
        "copying_q_value": Label("false discovery rate of copying", "rate", OF_HEADS),
    }
    variables, tokens = Variables({}, CIRCUIT, labels, resampled="tokens of the vocabulary"), len(copying.own)
    for name, shares in (("copying", copying.own), ("copying_most", copying.most)):
        mean, hits = shares.mean(0), shares.sum(0)
        bounds = [beta.ppf(0.025, hits, tokens - hits + 1), beta.ppf(0.975, hits + 1, tokens - hits)]
        bounds = np.stack([np.where(hits == 0, 0, bounds[0]), np.where(hits == tokens, 1, bounds[1])], axis=-1)
        count = Count(tokens, "tokens of the vocabulary that were tried", "tokens")
        variables.add(name, by_layer(mean, heads), interval=by_layer(bounds, heads), count=count)
    variables.add("copying_eigenvalues", by_layer(copying.eigenvalues, heads))
    variables.add("copying_q_value", by_layer(benjamini_hochberg(copying.p), heads))
    return variables.arrays
