"""A model with two layers of two heads, for many short runs."""

import headscope
from headscope import Model
from support.tiny import tiny_bert, tiny_tokenizer


def small_model(seed: int = 0) -> Model:
    """The model; its weights depend on the seed."""
    network = tiny_bert(seed, hidden_size=8, intermediate_size=8, num_hidden_layers=2, num_attention_heads=2)
    return headscope.wrap(network, tiny_tokenizer())
