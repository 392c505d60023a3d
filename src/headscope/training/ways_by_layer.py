"""Ways to fine-tune that treat the layers of the encoder differently."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from headscope.errors import HeadscopeError
from headscope.models.layer_weights import modules_by_layer
from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel


def last_layers(beginning: Beginning) -> InitialModel:
    """Train the last layers, what comes after them and a new classifier, not what is below (Lee et al. 2019).

    Raises `HeadscopeError` if the model has fewer layers.
    """
    start, number = beginning.initial(), beginning.options.top_layers
    stack = _layers(start)
    if number > len(stack):
        raise HeadscopeError(f"top layers {number}: the model has {len(stack)}; use a smaller number")
    pooler = getattr(start.network.base_model, "pooler", None)
    _train_only(start, [*stack[-number:], *([pooler] if pooler is not None else [])])
    return start


def stacked(beginning: Beginning) -> InitialModel:
    """Train all weights from a copy whose upper half has the weights of the lower one (stacking: Gong et al. 2019).

    Gong et al. stack a shallow model that was trained, to train a deep one; here the shallow one is the lower half. The
    last of an odd number of layers stays as it is.
    """
    start = beginning.initial()
    stack = _layers(start)
    half = len(stack) // 2
    for lower, upper in zip(stack[:half], stack[half : 2 * half], strict=True):
        upper.load_state_dict(lower.state_dict())
    return start


def mix(beginning: Beginning) -> InitialModel:
    """Train all weights, and a classifier that reads a trained mix of all layers (Su and Cheng 2019).

    In the place of the states that leave the last layer stands the sum of those of all layers, with weights from a
    softmax that begins with equal ones (as ELMo: Peters et al. 2018, section 3.2). The mix has no place in an ordinary
    folder.
    """
    start = beginning.initial()
    stack = _layers(start)
    layer_mix = LayerMix(len(stack))
    start.network.add_module("layer_mix", layer_mix)
    stack[0].register_forward_pre_hook(layer_mix.begin)
    for layer in stack:
        layer.register_forward_hook(layer_mix.keep)
    return start.not_ordinary(("layer_mix.weight",))


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


def adapters(beginning: Beginning) -> InitialModel:
    """Train a small bottleneck after each layer, and a new classifier (adapters: Houlsby et al. 2019).

    The encoder stays as it is. A bottleneck adds to the states that leave a layer; it begins with adding nothing.
    Houlsby et al. have two in each layer, before its normalisations: here there is one, after them. The bottlenecks
    have no place in an ordinary folder.
    """
    start = beginning.initial()
    stack = _layers(start)
    with torch.random.fork_rng():
        torch.manual_seed(beginning.seed)
        adapters = [Adapter(start.network.config.hidden_size, beginning.options.rank) for _ in stack]
    modules = nn.ModuleList(adapters)
    start.network.add_module("adapters", modules)
    for layer, adapter in zip(stack, adapters, strict=True):
        layer.register_forward_hook(adapter.behind)
    _train_only(start, modules)
    return start.not_ordinary(f"adapters.{name}" for name, _ in modules.named_parameters())


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


def _layers(start: InitialModel) -> list[nn.Module]:
    """The layers, in order; in families with lists of parts the first part of each.

    Raises `HeadscopeError` if there is no list of as many modules as the configuration has layers.
    """
    number = getattr(start.network.config, "num_hidden_layers", -1)
    return [first for first, *_ in modules_by_layer(start.network, number, "use another way")]


def _train_only(start: InitialModel, modules: Iterable[nn.Module]) -> None:
    """Freeze all weights but the new ones and those of some modules."""
    wanted = {weight for module in modules for weight in module.parameters()}
    for name, weight in start.network.named_parameters():
        weight.requires_grad = name in start.new or weight in wanted
