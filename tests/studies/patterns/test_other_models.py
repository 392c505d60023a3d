"""The shipped classifier on models that it has never seen, with heads of known pattern."""

from typing import Any, NamedTuple

import pytest
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import AutoModel, BertConfig, GPT2Config, PreTrainedModel, RobertaConfig

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import load
from headscope.studies.heads.patterns.grid import pool

POSITIONS = 64
HEADS, WIDTH = 8, 64
HIDDEN = HEADS * WIDTH
VOCABULARY = 50
KINDS = ("bert", "roberta", "gpt2")
# What layer normalisation makes of the 1 that stands for a position.
NORMALISED = HIDDEN**0.5
CERTAIN = 5.0

Scores = Float[Tensor, "query key"]


class Planted(NamedTuple):
    """A network, and the pattern of each head of its first layer."""

    network: PreTrainedModel
    patterns: tuple[str, ...]


def planted_model(kind: str, seed: int = 0) -> Planted:
    """One of `KINDS`; in a causal one no head looks ahead."""
    scores = planted_scores(kind == "gpt2", torch.Generator().manual_seed(seed))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        network: Any = AutoModel.from_config(config(kind), attn_implementation="eager").eval()
        positions = (network.wpe if kind == "gpt2" else network.embeddings.position_embeddings).weight
        words = (network.wte if kind == "gpt2" else network.embeddings.word_embeddings).weight
        positions.zero_()
        positions[-POSITIONS:, :POSITIONS] = torch.eye(POSITIONS)
        words[:, :POSITIONS] = 0
        if kind != "gpt2":
            network.embeddings.token_type_embeddings.weight.zero_()
        for head, (_, score) in enumerate(scores):
            rows = slice(head * WIDTH, (head + 1) * WIDTH)
            query, key = _projections(network, kind)
            query[rows, :POSITIONS] = torch.eye(WIDTH) * WIDTH**0.5 / NORMALISED
            key[rows, :POSITIONS] = score / NORMALISED
    return Planted(network, tuple(pattern for pattern, _ in scores))


def lightly_trained(planted: Planted, steps: int = 12) -> Planted:
    """The same network after a few steps of learning to tell the word after each word; it is changed in place."""
    network: Any = planted.network
    words = network.get_input_embeddings().weight
    optimiser = torch.optim.AdamW(network.parameters(), lr=5e-4)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        text = torch.randint(5, VOCABULARY, (8, 24), generator=generator)
        scores = network(text).last_hidden_state @ words.T
        torch.nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), text[:, 1:].flatten()).backward()
        optimiser.step()
        optimiser.zero_grad()
    return planted


def attention_of(planted: Planted, length: int, seed: int) -> Float[Tensor, "head query key"]:
    """The maps of the first layer, of random words."""
    words: Int[Tensor, "1 token"] = torch.randint(
        5, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(seed)
    )
    with torch.inference_mode():
        return planted.network(words, output_attentions=True).attentions[0][0]


def planted_scores(causal: bool, generator: torch.Generator) -> list[tuple[str, Scores]]:
    """The pattern of each head, and the scores that its queries give to keys, by their positions."""
    positions = torch.arange(POSITIONS)
    distance = positions - positions[:, None]
    first, few = (
        CERTAIN * torch.isin(positions, torch.tensor(columns)).expand(POSITIONS, -1) for columns in ([0], [1, 3])
    )
    same, before, after = (CERTAIN * (distance == offset) for offset in (0, -1, 1))
    spots = (CERTAIN + 1) * (torch.rand(POSITIONS, POSITIONS, generator=generator) < 0.06) * (abs(distance) > 3)
    heads = [
        ("vertical", first, 0.5),
        ("vertical", few, 0.5),
        ("diagonal", before, 0.5),
        ("diagonal", same if causal else after, 0.5),
        ("vertical_diagonal", torch.maximum(first, same), 0.5),
        ("vertical_diagonal", torch.maximum(few, before), 0.5),
        ("block", torch.zeros(POSITIONS, POSITIONS), 0.1),
        ("heterogeneous", spots, 1.0),
    ]
    shape = (POSITIONS, POSITIONS)
    return [(pattern, score + spread * torch.randn(shape, generator=generator)) for pattern, score, spread in heads]


def config(kind: str) -> Any:
    """Of a model of one layer whose heads are as wide as there are positions."""
    if kind == "gpt2":
        return GPT2Config(vocab_size=VOCABULARY, n_embd=HIDDEN, n_layer=1, n_head=HEADS, n_positions=POSITIONS)
    made, extra = (RobertaConfig, 2) if kind == "roberta" else (BertConfig, 0)
    return made(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=HEADS,
        intermediate_size=16,
        max_position_embeddings=POSITIONS + extra,
    )


def _projections(network: Any, kind: str) -> tuple[Tensor, Tensor]:
    """The weights that make queries and keys of vectors: [head x width, hidden], to be written to."""
    if kind == "gpt2":
        return tuple(network.h[0].attn.c_attn.weight.T.split(HIDDEN)[:2])  # type: ignore[return-value]
    attention = network.encoder.layer[0].attention.self
    return attention.query.weight, attention.key.weight


LENGTHS = (10, 16, 24, 33, 48, 64)


def pairs_of(planted: Planted, causal: bool, seed: int) -> list[tuple[str, str]]:
    """The planted and the told pattern of each head and length."""
    pairs = []
    for length in LENGTHS:
        attention = attention_of(planted, length, seed)
        classes = torch.tensor([[0, *[3] * (length - 2), 1]]) if not causal else torch.full((1, length), 3)
        found = load().classify(pool(attention[None], classes)[0]).argmax(-1)
        pairs += zip(planted.patterns, (PATTERNS[number] for number in found.tolist()), strict=True)
    return pairs


@pytest.mark.parametrize("kind", KINDS)
def test_planted_heads_of_other_models_are_told(kind: str) -> None:
    planted = [planted_model(kind, seed) for seed in range(3)]
    pairs = [pair for seed, model in enumerate(planted) for pair in pairs_of(model, kind == "gpt2", seed)]
    assert sum(planted == found for planted, found in pairs) / len(pairs) >= 0.95, [
        pair for pair in pairs if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_so_are_they_after_light_training(kind: str) -> None:
    before = planted_model(kind)
    after = lightly_trained(planted_model(kind))
    changed = (attention_of(before, 24, 0) - attention_of(after, 24, 0)).abs().amax((1, 2))
    assert changed.min() > 0.01
    pairs = pairs_of(after, kind == "gpt2", 0)
    assert sum(planted == found for planted, found in pairs) / len(pairs) >= 0.9, [
        pair for pair in pairs if pair[0] != pair[1]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_is_there(kind: str) -> None:
    attention = attention_of(planted_model(kind), 24, 0)
    torch.testing.assert_close(attention.sum(-1), torch.ones(8, 24))
    assert attention[0, 8:, 0].mean() > 0.6
    assert attention[2].diagonal(-1)[4:].mean() > 0.6
    assert attention[6, 12:].max() < 0.2
    assert (attention.triu(1).sum() == 0) == (kind == "gpt2")
