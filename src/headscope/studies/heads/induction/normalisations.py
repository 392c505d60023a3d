"""The normalisations of a network, found by what goes into its modules and what comes out.

A direct path from the embeddings to a head, and from a head to the output, goes through them alone.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.eager import check_inputs
from headscope.capture.last_layer_rows import weight
from headscope.capture.layer_stack import stack
from headscope.capture.transformers_logging import quiet
from headscope.models import Model

Norm = Callable[[Tensor], Tensor]
Rows = Float[Tensor, "token width"]
CLOSE = 1e-4


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
        weights, centres = _linear(self.last, embeddings[0])
        scaled = embeddings * weights
        return scaled - scaled.mean(1, keepdim=True) if centres else scaled


@torch.inference_mode()
def written_by_heads(model: Model) -> list[Float[Tensor, "head hidden width"]]:
    """What each head of each layer writes for its values: its part of the output projection.

    Gemma 3 and others normalise what attention writes before it is added to the states: of this normalisation the
    weights count, not its division, which all heads of a layer share.
    """
    outputs = [projections.output for projections in model.projections]
    with quiet(), _seen(model.network) as seen:
        model.network(**check_inputs(model.network))
    norms = [(module, entered) for module, (entered, _) in seen.items() if _is_norm(module)]
    written = []
    for output, projections in zip(outputs, model.projections, strict=True):
        maps = weight(output)  # [hidden, head and width]
        for behind in [norm for norm, entered in norms if output in seen and _same(seen[output][1], entered)][:1]:
            weights, centres = _linear(behind, maps[:, 0])
            maps = weights[:, None] * (maps - maps.mean(0) if centres else maps)
        written.append(maps.unflatten(1, (projections.heads, -1)).movedim(1, 0))
    return written


def _linear(norm: Norm, like: Float[Tensor, " width"]) -> tuple[Float[Tensor, " width"], bool]:
    """The weights of a normalisation, and whether it takes the mean away; `like` has its width and type."""
    signs = (1.0 - 2.0 * (torch.arange(len(like), device=like.device) % 2)).to(like.dtype)
    with torch.inference_mode():
        weights = (norm(signs) - norm(-signs)) / 2 * signs
        return weights, torch.allclose(norm(signs + 3), norm(signs), atol=CLOSE)


def find_normalisations(model: Model) -> Normalisations | str:
    """The normalisations of a model, in `torch.inference_mode`; a reason where something else stands between."""
    network, layers = model.network, stack(model.network, len(model.capture.heads))
    if layers is None:
        return "its layers are not called one after the other"
    modules = set(layers.layers)
    values = [projections.value for projections in model.projections]
    if len(set(values)) < len(values):
        return "its layers share their weights"
    outputs: Any = network.get_output_embeddings()
    with quiet(), _seen(network) as seen:
        network(**check_inputs(network))
    outside = {module: io for module, io in seen.items() if _is_norm(module) and not _inside(module, modules)}
    entered = seen[layers.layers[0]][0]
    first = next((module for module, (_, out) in outside.items() if _same(out, entered)), None)
    before = list[Norm | None]()
    for layer, value in zip(layers.layers, values, strict=True):
        state, wanted = seen[layer][0], seen[value][0]
        found = _between(state, wanted, layer.modules())
        if found is None:
            return "more than a normalisation stands before its heads"
        before.append(*found)
    final = _between(seen[layers.layers[-1]][1], seen[outputs][0], outside)
    return Normalisations(first, tuple(before), *(final or (None,)))


def _between(state: Tensor, wanted: Tensor, modules: Iterable[nn.Module]) -> tuple[Norm | None] | None:
    """The normalisation that makes one tensor of another, in a tuple: (None,) where they are equal; None for none."""
    if _same(state, wanted):
        return (None,)
    width = state.shape[-1]  # norms of queries and keys may be as wide as a head
    norms = [module for module in modules if _is_norm(module) and next(module.parameters()).shape == (width,)]
    found = [module for module in norms if _same(module(state), wanted)]
    return (found[0],) if found else None


def _is_norm(module: nn.Module) -> bool:
    """Whether a module has no more than a scale, and perhaps a shift, of its own."""
    own = list(module.parameters())
    return bool(own) and not list(module.children()) and all(weight.ndim == 1 for weight in own)


def _inside(module: nn.Module, layers: set[nn.Module]) -> bool:
    return any(module is inner for layer in layers for inner in layer.modules())


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.float(), other.float(), rtol=CLOSE, atol=CLOSE)


@contextmanager
def _seen(network: nn.Module) -> Iterator[dict[nn.Module, tuple[Tensor, Tensor]]]:
    """Within this context the first tensor that enters each module, and the first that leaves it, are kept."""
    seen = dict[nn.Module, tuple[Tensor, Tensor]]()

    def see(module: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any], returned: Any) -> None:
        given = next((value for value in (*arguments, *keywords.values()) if isinstance(value, Tensor)), None)
        made = returned[0] if isinstance(returned, tuple) else returned
        if isinstance(given, Tensor) and isinstance(made, Tensor):
            seen[module] = given, made

    with ExitStack() as handles:
        for module in network.modules():
            handles.callback(module.register_forward_hook(see, with_kwargs=True).remove)
        yield seen
