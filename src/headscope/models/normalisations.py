"""The normalisations of a network, found by what goes into its modules and what comes out.

A direct path from the embeddings to a head, and from a head to the output, goes through them alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.eager import check_inputs
from headscope.capture.layer_stack import Stack, stack
from headscope.capture.transformers_logging import quiet
from headscope.models.model import Model

Norm = Callable[[Tensor], Tensor]
# What enters modules, and what leaves them.
Seen = Mapping[nn.Module, tuple[Tensor, Tensor]]
Rows = Float[Tensor, "token width"]
States = Float[Tensor, "*token width"]
CLOSE = 1e-4
TINY = 1e-30


@dataclass(frozen=True)
class Normalisations:
    """The modules that normalise, None where there is none.

    * `first`: of the embeddings, before the first layer; `layers`: before the linear maps of each layer's attention;
      `last`: before the output embedding.
    """

    first: Norm | None
    layers: tuple[Norm | None, ...]
    last: Norm | None

    def embedded(self, embeddings: Rows) -> Rows:
        """What enters the first layer for embeddings without positions."""
        return self.first(embeddings) if self.first else embeddings

    def before_values(self, states: Rows) -> list[Rows]:
        """What enters the linear maps of each layer for the same states."""
        return [norm(states) if norm else states for norm in self.layers]

    def output_weights(self, embeddings: Rows) -> Rows:
        """Output embeddings as they act on a state before the last normalisation, apart from its division."""
        if self.last is None:
            return embeddings
        return linear_norm(self.last, embeddings[0]).back(embeddings)


@dataclass(frozen=True)
class LinearNorm:
    """A normalisation with its division held: `scale * weight * (state - mean) + bias`.

    * `centres`: whether the mean over columns is taken away.
    """

    weight: Float[Tensor, " width"]
    bias: Float[Tensor, " width"]
    centres: bool

    def linear(self, states: States) -> States:
        """The states after the normalisation, without its division and its bias."""
        return self.weight * (states - states.mean(-1, keepdim=True) if self.centres else states)

    def back(self, directions: States) -> States:
        """Directions before the normalisation with the effect of given ones after it, apart from the division."""
        scaled = directions * self.weight
        return scaled - scaled.mean(-1, keepdim=True) if self.centres else scaled

    def scale(self, before: States, after: States) -> Float[Tensor, "*token 1"]:
        """The factor of each state, from what enters the normalisation and what leaves it."""
        linear = self.linear(before)
        length = linear.square().sum(-1, keepdim=True).clamp_min(TINY)
        return ((after - self.bias) * linear).sum(-1, keepdim=True) / length


def linear_norm(norm: Norm, like: Float[Tensor, " width"]) -> LinearNorm:
    """A normalisation read off by what it makes of two states; `like` has their width and type."""
    signs = (1.0 - 2.0 * (torch.arange(len(like), device=like.device) % 2)).to(like.dtype)
    with torch.inference_mode():
        ahead, behind = norm(signs), norm(-signs)
        centres = torch.allclose(norm(signs + 3), ahead, atol=CLOSE)
        return LinearNorm((ahead - behind) / 2 * signs, (ahead + behind) / 2, centres)


def find_normalisations(model: Model) -> Normalisations | str:
    """The normalisations of a model, in `torch.inference_mode`; a reason where something else stands between."""
    network, layers = model.network, stack(model.network, len(model.capture.heads))
    if layers is None:
        return "its layers are not called one after the other"
    values = [projections.value for projections in model.projections]
    if len(set(values)) < len(values):
        return "its layers share their weights"
    with quiet(), modules_seen(network.modules()) as seen:
        network(**check_inputs(network))
    entered = seen[layers.layers[0]][0]
    first = next((module for module in outer_norms(seen, layers) if same(seen[module][1], entered)), None)
    before = list[Norm | None]()
    for layer, value in zip(layers.layers, values, strict=True):
        state, wanted = seen[layer][0], seen[value][0]
        found = norm_between(state, wanted, layer.modules())
        if found is None:
            return "more than a normalisation stands before its heads"
        before.append(*found)
    return Normalisations(first, tuple(before), *(last_norm(seen, layers) or (None,)))


def last_norm(seen: Seen, layers: Stack) -> tuple[Norm | None] | None:
    """The normalisation between the last layer and the output embeddings; see `norm_between`."""
    outputs: Any = layers.network.get_output_embeddings()
    return norm_between(seen[layers.layers[-1]][1], seen[outputs][0], outer_norms(seen, layers))


def outer_norms(seen: Seen, layers: Stack) -> list[nn.Module]:
    """The normalisations that are no part of a layer."""
    inner = {module for layer in layers.layers for module in layer.modules()}
    return [module for module in seen if is_norm(module) and module not in inner]


def norm_between(state: Tensor, wanted: Tensor, modules: Iterable[nn.Module]) -> tuple[Norm | None] | None:
    """The normalisation that makes one tensor of another, in a tuple: (None,) where they are equal; None for none."""
    if same(state, wanted):
        return (None,)
    width = state.shape[-1]  # norms of queries and keys may be as wide as a head
    norms = [module for module in modules if is_norm(module) and next(module.parameters()).shape == (width,)]
    found = [module for module in norms if same(module(state), wanted)]
    return (found[0],) if found else None


def is_norm(module: nn.Module) -> bool:
    """Whether a module has no more than a scale, and perhaps a shift, of its own."""
    own = list(module.parameters())
    return bool(own) and not list(module.children()) and all(weight.ndim == 1 for weight in own)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same but for rounding."""
    return one.shape == other.shape and torch.allclose(one.float(), other.float(), rtol=CLOSE, atol=CLOSE)


@contextmanager
def modules_seen(
    modules: Iterable[nn.Module], look: Callable[[Tensor], Tensor] = lambda states: states
) -> Iterator[dict[nn.Module, tuple[Tensor, Tensor]]]:
    """Within this context the first tensor that enters each module, and the first that leaves it, are kept.

    * `look`: what is kept of a tensor.
    """
    seen = dict[nn.Module, tuple[Tensor, Tensor]]()

    def see(module: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any], returned: Any) -> None:
        before = next((value for value in (*arguments, *keywords.values()) if isinstance(value, Tensor)), None)
        after = returned[0] if isinstance(returned, tuple) else returned
        if isinstance(before, Tensor) and isinstance(after, Tensor):
            seen[module] = look(before), look(after)

    with ExitStack() as handles:
        for module in modules:
            handles.callback(module.register_forward_hook(see, with_kwargs=True).remove)
        yield seen
