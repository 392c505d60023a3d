"""A short padded batch, and an observer that keeps what it is shown."""

import torch
from torch import Tensor, nn

from headscope.capture.attention_function import observed

INPUTS = {
    "input_ids": torch.arange(5, 29).reshape(2, 12),
    "attention_mask": (torch.arange(12) < torch.tensor([12, 7])[:, None]).long(),
}


class Shown:
    """An observer that keeps copies of what it is shown."""

    def __init__(self) -> None:
        self.layers: list[int] = []
        self.attention: list[Tensor] = []

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *_: object) -> None:
        self.layers.append(layer)
        self.attention.append(attention.clone())


def shown(network: nn.Module, context=observed) -> list[Tensor]:
    seen = Shown()
    with torch.inference_mode(), context(network, seen):
        network(**INPUTS)
    return seen.attention
