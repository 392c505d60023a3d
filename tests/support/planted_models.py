"""BERT, RoBERTa and GPT-2 with heads of known pattern: models that the classifier has never seen.

Everything is random, words count too, and small against what is planted on positions, so that no map is clean.
Attention is that of the first layer; a map of `attention_of` has rows that sum to 1.

>>> planted_model("gpt2").patterns[:3]
('vertical', 'vertical', 'diagonal')
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import AutoModel, BertConfig, GPT2Config, PreTrainedModel, RobertaConfig

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
