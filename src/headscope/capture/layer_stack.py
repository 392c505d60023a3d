"""Run a network again from one of its layers: the input of each layer is kept, the layers below are skipped."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from headscope.capture.eager import check_inputs
from headscope.capture.transformers_logging import quiet

States = Float[Tensor, "example token width"]


@dataclass(frozen=True)
class Call:
    """The arguments of a layer call: the states that enter it, and the rest (masks, position embeddings)."""

    states: States
    arguments: tuple
    keywords: Mapping[str, Any]


@dataclass(frozen=True)
class Stack:
    """A network and its layers, each called once, in order, on the states that the one before returned."""

    network: PreTrainedModel
    layers: tuple[nn.Module, ...]

    def run(self, layer: int, states: States, call: Call) -> States:
        """The output states of a layer (from 0) for `states`, with the masks and the rest of another call."""
        return self.layers[layer](states, *call.arguments, **call.keywords)

    def calls(self, inputs: Mapping[str, Tensor], *, head: bool = True) -> tuple[list[Call], Any]:
        """Run a forward pass; without the `head` where no output is wanted: it may cost more than the layers.

        Returns: the call of each layer, and the output of the network.
        """
        with _watched(self.layers) as seen:
            answer = (self.network if head else self.network.base_model)(**inputs)
        return [call for _, call, _ in seen], answer

    def arguments(self, inputs: Mapping[str, Tensor]) -> list[Call]:
        """The calls of all layers without computing any: the states of each are those that enter the first."""
        with instead(dict.fromkeys(self.layers, _pass)):
            return self.calls(inputs, head=False)[0]

    def finish(self, inputs: Mapping[str, Tensor], states: States) -> Any:
        """The output of the network if `states` leave its last layer."""
        return self.rest(inputs, len(self.layers), states)

    def rest(self, inputs: Mapping[str, Tensor], layer: int, states: States) -> Any:
        """The output of the network if `states` enter a layer, from 0; those of the first are its own."""
        below = dict.fromkeys(self.layers[:layer], _pass)
        if layer:
            below[self.layers[layer - 1]] = lambda *_, **__: states
        with instead(below):
            return self.network(**inputs)


def stack(network: PreTrainedModel, layers: int) -> Stack | None:
    """The stack of `layers` layers of a network; None if no such list is called layer by layer, in order.

    >>> from headscope.models import load
    >>> type(stack(load("minilm").network, 6).layers[0]).__name__
    'BertLayer'
    """
    lists = [
        tuple(module) for module in network.modules() if isinstance(module, nn.ModuleList) and len(module) == layers
    ]
    for layers_ in filter(None, lists):
        with torch.inference_mode(), quiet(), _watched(layers_) as seen:
            network(**check_inputs(network))
        called, calls, returned = zip(*seen, strict=True) if seen else ((), (), ())
        entered = [call.states for call in calls[1:]]
        if called == layers_ and all(state is other for state, other in zip(returned, entered, strict=False)):
            return Stack(network, layers_)
    return None


@contextmanager
def instead(forwards: Mapping[nn.Module, Callable]) -> Iterator[None]:
    """Replace the forward methods of modules within this context."""
    # Modules of a spread network have one of their own, with its hooks.
    replaced = {module: vars(module)["forward"] for module in forwards if "forward" in vars(module)}
    try:
        for module, forward in forwards.items():
            module.forward = forward
        yield
    finally:
        for module in forwards:
            vars(module).pop("forward", None)
        for module, forward in replaced.items():
            module.forward = forward


def _pass(states: States, *arguments: Any, **keywords: Any) -> States:
    return states


@contextmanager
def _watched(layers: tuple[nn.Module, ...]) -> Iterator[list[tuple[nn.Module, Call, Any]]]:
    """Within this context calls of the layers, and what they return, are added to a list."""
    seen: list[tuple[nn.Module, Call, Any]] = []

    def see(layer: nn.Module, arguments: tuple[Any, ...], keywords: dict, returned: Any) -> None:
        states, *rest = arguments or (returned,)
        seen.append((layer, Call(states, tuple(rest), keywords), returned))

    handles = [layer.register_forward_hook(see, with_kwargs=True) for layer in layers]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
