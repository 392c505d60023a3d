"""Train all weights, and a classifier that reads a trained mix of all layers (Su and Cheng 2019).

In the place of the states that leave the last layer stands the sum of those of all layers, with weights from a softmax
that begins with equal ones (as ELMo: Peters et al. 2018, section 3.2).
"""

from typing import Any

import torch
from torch import Tensor, nn

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel
from headscope.training.strategies._layers import layers


class LayerMix(nn.Module):
    """The weights of the layers, and the states that the layers of the pass returned so far."""

    def __init__(self, number: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(number))
        self.seen: list[Tensor] = []

    def begin(self, layer: nn.Module, arguments: Any) -> None:
        """Forget the states of a pass that ended before its last layer, as one does that reads attention alone."""
        self.seen = []

    def keep(self, layer: nn.Module, arguments: Any, states: Any) -> Any:
        """Keep the states that a layer returns; those of the last become the mix."""
        self.seen.append(states[0] if isinstance(states, tuple) else states)
        if len(self.seen) < len(self.weight):
            return None
        mixed = torch.einsum("l,l...->...", self.weight.softmax(0), torch.stack(self.seen))
        return (mixed, *states[1:]) if isinstance(states, tuple) else mixed


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`. The mix has no place in an ordinary folder."""
    start = beginning.initial()
    stack = layers(start)
    mix = LayerMix(len(stack))
    start.network.add_module("layer_mix", mix)
    stack[0].register_forward_pre_hook(mix.begin)
    for layer in stack:
        layer.register_forward_hook(mix.keep)
    return start.not_ordinary(("layer_mix.weight",))
