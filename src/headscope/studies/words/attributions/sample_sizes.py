"""How many inputs are scored and altered by default, by length: those that take two minutes together.

These are minutes of the built-in model; a larger one takes up to ten.
"""

from dataclasses import dataclass, replace
from math import log2
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.passes import Settings
from headscope.studies.words.attributions.altered_inputs import MOST_TOKENS
from headscope.studies.words.attributions.explaining_pass import ALTERED_PASSES, drawn
from headscope.studies.words.attributions.integrated_gradients import MOST_POINTS

# Tokens of all passes over a sample: one thread runs 4 of them in a millisecond in the built-in model. The rest of two
# minutes goes to the passes over all inputs, and a margin.
TOKENS_OF_TWO_MINUTES = 260_000
BUILT_IN_LAYERS, BUILT_IN_WEIGHTS = 6, 10_616_832
LONGEST = 5  # a larger model takes at most this many times two minutes, for fewer inputs
# Sets of blanked tokens of an input in six layers: this many for each token, up to a number.
SETS_OF_TOKEN, SETS = 20, 700
# Integrated gradients of a decoder, in sets, of 32 points; the margin holds those of the built-in model, of 8 or 16.
INTEGRATED, FEWEST_AT_MOST = 350, 32
# Passes of a search for another attention of each head, of 72 heads in six layers.
HEAD_PASSES = 800
# Scored inputs keep at least this share of the time.
SCORED_SHARE = 2 / 3
# One half of the scored inputs chooses layers, the other half is scored.
LEAST = 2
# Inputs of which the attention of each head alone is searched.
BY_HEAD = 10
Lengths = Int[np.ndarray, " input"]


@dataclass(frozen=True)
class SampleSizes:
    """How many inputs are scored, altered, and of these searched head by head; most points of integrated gradients."""

    scored: int
    altered: int
    by_head: int
    points: int = MOST_POINTS


def of_two_minutes(model: Model, corpus: Corpus, settings: Settings, scored: int, altered: int) -> SampleSizes:
    """How many of the inputs that the seed draws are taken by default, at most the number asked for."""
    numbers = drawn(corpus.n_examples, settings.seed)[: max(scored, altered)]
    wanted = set(numbers)
    examples = {number: example for number, example in enumerate(corpus) if number in wanted}
    words = Words(model.tokenizer, model.max_tokens, settings.long)
    encoded = words.tokenized(examples[number] for number in numbers)
    lengths = np.array([sum(map(len, encodings)) for _, encodings in encoded])
    share, integrated = min(1, LONGEST / work(model)), 0 if model.looks_ahead else INTEGRATED
    points = max(FEWEST_AT_MOST, 2 ** int(log2(max(1, MOST_POINTS * share))))
    return replace(fitting(lengths, scored, altered, TOKENS_OF_TWO_MINUTES * share, integrated), points=points)


def depth(model: Model) -> float:
    """The sets of blanked tokens of an input, as a multiple of those of the built-in model: some for each layer."""
    return len(model.capture.heads) / BUILT_IN_LAYERS


def work(model: Model) -> float:
    """The work of all sets of an input, as a multiple of that in the built-in model."""
    network: Any = model.network.base_model
    return depth(model) * network.num_parameters(exclude_embeddings=True) / BUILT_IN_WEIGHTS


def fitting(
    lengths: Lengths, scored: int, altered: int, tokens: float = TOKENS_OF_TWO_MINUTES, integrated: int = 0
) -> SampleSizes:
    """How many of the first inputs fit into the tokens of all passes, at least `LEAST`.

    * `lengths`: of the inputs, in tokens; `scored`, `altered`: the most inputs of each.
    * `integrated`: integrated gradients of an input, in sets of blanked tokens.

    >>> fitting(np.full(50, 20), 50, 50)
    SampleSizes(scored=22, altered=21, by_head=0, points=256)
    >>> fitting(np.full(50, 8), 50, 50)
    SampleSizes(scored=50, altered=50, by_head=10, points=256)
    """
    blanked = np.cumsum(lengths * (np.minimum(SETS_OF_TOKEN * lengths, SETS) + integrated))
    changed = np.cumsum(np.where(lengths <= MOST_TOKENS, lengths, 0))
    first = _number(ALTERED_PASSES * changed, tokens * (1 - SCORED_SHARE), altered)
    scored = _number(blanked, tokens - _sum(ALTERED_PASSES * changed, first), scored)
    left = tokens - _sum(blanked, scored)
    altered = _number(ALTERED_PASSES * changed, left, altered)
    left -= _sum(ALTERED_PASSES * changed, altered)
    return SampleSizes(scored, altered, _number(HEAD_PASSES * changed, left, min(altered, BY_HEAD), least=0))


def _number(sums: Lengths, most: float, asked: int, least: int = LEAST) -> int:
    """How many inputs take at most this many tokens together."""
    return min(asked, max(least, int((sums <= most).sum())))


def _sum(sums: Lengths, number: int) -> int:
    return int(sums[number - 1]) if number and len(sums) else 0
