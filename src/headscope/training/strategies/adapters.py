"""Train a small bottleneck behind each layer, and a new classifier (adapters: Houlsby et al. 2019).

The encoder stays as it is. A bottleneck adds to the states that leave a layer; it begins with adding nothing. Houlsby
et al. have two in each layer, before its normalisations: here there is one, behind them.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel
from headscope.training.strategies._layers import layers, train_only

OPTIONS = ("rank",)


class Adapter(nn.Module):
    """A bottleneck whose output is added to its input."""

    def __init__(self, hidden: int, width: int):
        super().__init__()
        self.down, self.up = nn.Linear(hidden, width), nn.Linear(width, hidden)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, states: Tensor) -> Tensor:
        return states + self.up(gelu(self.down(states)))

    def behind(self, layer: nn.Module, arguments: Any, states: Any) -> Any:
        """What leaves the layer instead of its states."""
        return (self(states[0]), *states[1:]) if isinstance(states, tuple) else self(states)


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`. The bottlenecks have no place in an ordinary folder."""
    start = beginning.initial()
    stack = layers(start)
    with torch.random.fork_rng():
        torch.manual_seed(beginning.seed)
        adapters = [Adapter(start.network.config.hidden_size, beginning.options.rank) for _ in stack]
    modules = nn.ModuleList(adapters)
    start.network.add_module("adapters", modules)
    for layer, adapter in zip(stack, adapters, strict=True):
        layer.register_forward_hook(adapter.behind)
    train_only(start, [modules])
    return start.not_ordinary(f"adapters.{name}" for name, _ in modules.named_parameters())
