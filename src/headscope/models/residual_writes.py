"""What heads and layers write into the states that the last normalisation reads, found by a short forward pass.

In most decoders the last states are the sum of the embeddings and of what attention and the feed-forward part of each
layer write (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.eager import short_input
from headscope.capture.last_layer_rows import weight
from headscope.capture.layer_stack import Stack, stack
from headscope.capture.projections import Projections
from headscope.capture.spread import is_spread
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models.model import Model
from headscope.models.normalisations import LinearNorm, Norm, Seen, is_norm, last_norm, linear_norm, modules_seen, same

ROUNDING = 1e-3  # of what a layer adds


@dataclass(frozen=True)
class AttentionWrite:
    """What attention of a layer writes: the output projection of its heads, in some families normalised.

    Gemma 3 and others normalise what attention writes before it is added to the states.
    """

    projections: Projections
    norm: nn.Module | None

    @property
    def module(self) -> nn.Module:
        """The module whose output is added to the states."""
        return self.norm or self.projections.output

    @cached_property
    def linear(self) -> LinearNorm | None:
        """The normalisation with its division held."""
        return None if self.norm is None else linear_norm(self.norm, weight(self.projections.output)[:, 0])

    @property
    def maps(self) -> Float[Tensor, "head hidden width"]:
        """From the output of each head to what it writes, apart from a division that all heads of a layer share."""
        maps = weight(self.projections.output)  # [hidden, head and width]
        maps = self.linear.linear(maps.T).T if self.linear else maps
        return maps.unflatten(1, (self.projections.heads, self.projections.width)).movedim(1, 0)

    @property
    def bias(self) -> Float[Tensor, " hidden"]:
        """The part of the output that no head writes, before the same division."""
        bias = self.projections.output.bias
        bias = bias if isinstance(bias, Tensor) else weight(self.projections.output).new_zeros(())
        return self.linear.linear(bias.expand(len(self.linear.weight))) if self.linear else bias


@dataclass(frozen=True)
class LayerWrites:
    """What a layer adds to the states: what attention and a feed-forward module write, times a factor, mostly 1."""

    attention: AttentionWrite
    feed_forward: nn.Module
    factor: float


@dataclass(frozen=True)
class ResidualWrites:
    """The parts of which the last states of a network are the sum.

    * `last`: the normalisation before the output embeddings; `factor`: of logits, 1 in most families.
    * `cap`: of a network that bends its logits towards a limit; what is said of them holds before that.
    """

    stack: Stack
    layers: tuple[LayerWrites, ...]
    last: Norm | None
    factor: float
    cap: float | None


@torch.inference_mode()
def written_by_heads(model: Model) -> list[Float[Tensor, "head hidden width"]]:
    """What each head of each layer writes for its values; see `AttentionWrite.maps`."""
    with quiet(), modules_seen(model.network.modules()) as seen:
        model.network(**short_input(model.network))
    return [write.maps for write in _attention_writes(model, seen)]


def residual_writes(model: Model) -> ResidualWrites | str:
    """The parts of the last states of a model; a reason where these are not a sum, or their logits not linear."""
    network, layers = model.network, stack(model.network, len(model.capture.heads))
    outputs: Any = network.get_output_embeddings()
    if layers is None or outputs is None or is_spread(network):
        return "its layers and output embeddings cannot be read one after the other"
    with torch.inference_mode(), quiet(), modules_seen(network.modules()) as seen:
        logits = network(**short_input(network)).logits
        final, scaled = last_norm(seen, layers), _scaled(network, seen[outputs][1], logits)
    try:
        attention = _attention_writes(model, seen)
    except HeadscopeError:
        return "the linear maps of its attention cannot be identified"
    parts = [_layer_writes(layer, write, seen) for layer, write in zip(layers.layers, attention, strict=True)]
    if final is None:
        return "more than a normalisation stands between its last layer and its output embeddings"
    if None in parts:
        return "its last states are not the sum of what its layers write"
    if scaled is None:
        return "its logits are no multiple of what its output embeddings give"
    return ResidualWrites(layers, tuple(filter(None, parts)), *final, *scaled)


def _attention_writes(model: Model, seen: Seen) -> list[AttentionWrite]:
    norms = [module for module in seen if is_norm(module)]
    writes = []
    for maps in model.projections:
        written = seen[maps.output][1] if maps.output in seen else None
        behind = [norm for norm in norms if written is not None and same(seen[norm][0], written)]
        writes.append(AttentionWrite(maps, next(iter(behind), None)))
    return writes


def _layer_writes(layer: nn.Module, attention: AttentionWrite, seen: Seen) -> LayerWrites | None:
    """The parts of a layer, of which one is what attention writes; None where no other one makes up the sum.

    Of several modules the one whose factor is nearest to 1: a layer without a feed-forward part would else have half.
    """
    states, left = (tensor.float() for tensor in seen[layer])
    added, written = left - states, seen[attention.module][1].float()
    rounding = ROUNDING * added.norm() + 4 * torch.finfo(seen[layer][0].dtype).eps * left.norm()
    within = set(layer.modules()) - {layer, attention.module, attention.projections.output}
    factors = {}
    for module in [module for module in seen if module in within and seen[module][1].numel() == states.numel()]:
        both = written + seen[module][1].float().reshape(states.shape)  # OPT reads tokens in a row
        factor = _factor(both, added)
        if (added - factor * both).norm() <= rounding:
            factors[module] = factor
    best = min(factors, key=lambda module: abs(factors[module] - 1), default=None)
    return None if best is None else LayerWrites(attention, best, factors[best])


def _scaled(network: Any, raw: Tensor, logits: Tensor) -> tuple[float, float | None] | None:
    """The factor of logits and their cap, from what the output embeddings give; None where they are something else."""
    raw, logits = raw.float(), logits.float()
    cap = getattr(network.config.get_text_config(), "final_logit_softcapping", None)
    if cap and same(cap * torch.tanh(raw / cap), logits):
        return 1.0, cap
    factor = _factor(raw, logits)
    return (factor, None) if same(factor * raw, logits) else None


def _factor(values: Tensor, wanted: Tensor) -> float:
    """By how much some values come nearest to others, in squares; 1 where it differs from that by rounding."""
    factor = float((values * wanted).sum() / values.square().sum()) if bool(values.any()) else 1.0
    return 1.0 if abs(factor - 1) < ROUNDING else factor
