"""An encoder with neurons that do nothing, and texts for it."""

from typing import Any

import torch

import headscope
from headscope import Model
from support.tiny import tiny_bert, tiny_tokenizer

WORDS = ("cat", "dog", "house", "river", "story", "town")
TEXTS = [f"The {one} {verb} the {other}." for one in WORDS for other in WORDS for verb in ("saw", "was")]


def idle(layers: int = 3) -> Model:
    """An encoder in which the odd neurons of each layer do nothing."""
    network: Any = tiny_bert(num_hidden_layers=layers)
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.output.dense.weight[:, 1::2] = 0
    return headscope.wrap(network, tiny_tokenizer())
