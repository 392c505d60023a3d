"""Encoders with neurons and heads that do nothing, and texts for them."""

from typing import Any

import torch
from transformers import EuroBertConfig

import headscope
from headscope import Model, Settings
from headscope.studies.size.shrink.judge import Judge, judge_of
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.texts import Splits
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer, tiny_vocabulary

WORDS = ("cat", "dog", "house", "river", "story", "town")
TEXTS = [f"The {one} {verb} the {other}." for one in WORDS for other in WORDS for verb in ("saw", "was")]


def idle(layers: int = 3) -> Model:
    """An encoder in which the odd neurons of each layer do nothing."""
    network: Any = tiny_bert(num_hidden_layers=layers)
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.output.dense.weight[:, 1::2] = 0
    return headscope.wrap(network, tiny_tokenizer())


def idle_halves(layers: int = 3) -> Model:
    """An encoder, whose class can lose heads, in which the odd neurons and heads of each layer do nothing."""
    config = EuroBertConfig(
        vocab_size=len(tiny_vocabulary()),
        hidden_size=24,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=6,
        intermediate_size=32,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        mask_token_id=4,
    )
    network: Any = tiny_network(config)
    with torch.no_grad():
        for layer in network.layers:
            layer.self_attn.o_proj.weight.view(24, 4, 6)[:, 1::2] = 0
            layer.mlp.down_proj.weight[:, 1::2] = 0
    return headscope.wrap(network, tiny_tokenizer())


def idle_by_layer(layers: int = 3) -> tuple[Model, tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """An encoder of which half of the neurons and heads do nothing, in each layer another number.

    Returns: the model; of each layer its neurons and its heads that do something, from 0.
    """
    network: Any = tiny_bert(num_hidden_layers=layers)
    random = torch.Generator().manual_seed(0)
    neurons, heads = [], []
    with torch.no_grad():
        for number, layer in enumerate(network.encoder.layer, 1):
            share = number / (layers + 1)  # of the layer that is idle: 1/4, 1/2 and 3/4 of three layers
            for found, parts, weight in (
                (neurons, 32, layer.output.dense.weight),
                (heads, 4, layer.attention.output.dense.weight),
            ):
                order = torch.randperm(parts, generator=random)
                idle = order[: round(share * parts)]
                weight.view(24, parts, -1)[:, idle] = 0
                found.append(tuple(sorted(order[len(idle) :].tolist())))
    return headscope.wrap(network, tiny_tokenizer()), tuple(neurons), tuple(heads)


def judge_by_embeddings(model: Model, settings: Settings) -> Judge:
    """A judge by embeddings, without any text."""
    return judge_of(model, None, Splits((), (), (), ()), settings)


def even(layers: tuple[int, ...], neurons: int, heads: int, embeddings: int = 0, of: int = 3) -> Size:
    """A size of so many layers that keep the same numbers."""
    return Size(layers, (neurons,) * of, (heads,) * of, embeddings)
