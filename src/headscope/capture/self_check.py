"""The self-check at load: an exact capture of a model's attention, or a refusal rather than wrong numbers.

On a short padded batch the captured attention must be that of transformers' eager implementation, layer
by layer; its rows must sum to 1, and the outputs must be those of the eager model. Sliding windows are made shorter
than the input for this time, so that they hide keys as in a long one.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import torch
from jaxtyping import Bool
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture.attention_function import LAZY, WHOLE, observed
from headscope.capture.eager import Seen, eager_pass, rows_sum_to_one, short_windows
from headscope.capture.observer import Intervention, Observer, small_blocks
from headscope.capture.softmax import tapped
from headscope.capture.transformers_logging import quiet
from headscope.capture.unsupported import refuse_type
from headscope.capture.watch import PassWatch
from headscope.errors import HeadscopeError

Slices = tuple[slice, slice, slice, slice]
ALL = slice(None)


class Observe(Protocol):
    """A context in which forward passes show their attention to `look`, an intervention if it `changes` it."""

    def __call__(
        self, network: PreTrainedModel, look: Observer | Intervention, *, changes: bool = False
    ) -> AbstractContextManager[PassWatch]: ...


CAPTURES: dict[str, Observe] = {
    "attention interface": observed,
    "attention interface, whole masks": partial(observed, name=WHOLE),
    "softmax tap": tapped,
}
# Largest difference from the eager model: rounding, whose size depends on the order of sums.
TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
# Largest difference of a faster pass from a full one, as a fraction of the largest output (at least of 1).
CLOSE = TOLERANCE | {torch.float32: 1e-5}
# The check's short input gets the masks that long inputs get, too; with them, attention by small blocks of some heads
# and of the keys that they see, whose softmax rounds in another way: layers with very large weights enlarge that, and
# it may differ ten times as much.
BY_RANGES = 10
TRIALS: dict[str, tuple[tuple[Observe, bool], ...]] = {
    "attention interface": ((observed, False), (partial(observed, name=LAZY), True)),
    "attention interface, whole masks": ((partial(observed, name=WHOLE), False), (partial(observed, name=WHOLE), True)),
}


@dataclass(frozen=True)
class Capture:
    """The capture method (a key of `CAPTURES`), and the number of heads of each layer.

    * `looks_ahead`: whether some head gave a later token any attention.
    """

    method: str
    heads: tuple[int, ...]
    looks_ahead: bool = True


@dataclass
class _Maps:
    """An observer that keeps the blocks of each layer, each with its place [example, head, query, key]."""

    key_ranges: bool
    blocks: dict[int, list[tuple[Slices, Tensor]]] = field(default_factory=dict)

    def __call__(
        self,
        layer: int,
        attention: Tensor,
        examples: slice,
        queries: slice,
        entropy: object,
        heads: slice,
        keys: slice = ALL,
    ) -> None:
        self.blocks.setdefault(layer, []).append(((examples, heads, queries, keys), attention.clone()))

    def layers(self, shape: torch.Size) -> list[Tensor]:
        """The maps of each layer, of a batch [example, token]; NaN where there was no block."""
        return [_joined(self.blocks[layer], *shape) for layer in sorted(self.blocks)]


def check(network: PreTrainedModel) -> Capture:
    """Find the first method that captures the attention of `network` exactly.

    Raises `HeadscopeError`, with the reason for each method, if there is none.
    """
    kind = network.config.model_type
    sinks = any(name.endswith(".sinks") for name, _ in network.named_parameters())
    refuse_type(kind, sinks=sinks)
    with torch.inference_mode(), quiet(), short_windows(network):
        inputs, expected = eager_pass(network, TOLERANCE[network.dtype])
        reasons = []
        for method in CAPTURES:
            reason = _refusal(network, inputs, expected, method)
            if reason is None:
                attentions = expected.attentions
                ahead = any(bool(attention[-1].triu(1).any()) for attention in attentions)  # the last has no padding
                return Capture(method, tuple(attention.shape[1] for attention in attentions), ahead)
            reasons.append(f"{method}: {reason}")
    raise HeadscopeError(f"model type '{kind}' cannot be captured exactly ({'; '.join(reasons)}); use another model")


def _refusal(network: PreTrainedModel, inputs: dict[str, Tensor], expected: Seen, method: str) -> str | None:
    """The error of the first trial of a method that differs from the eager pass; None if none differs."""
    real = inputs["attention_mask"].bool()
    for observe, by_ranges in TRIALS.get(method, ((CAPTURES[method], False),)):
        try:
            seen = _captured(network, inputs, observe, by_ranges=by_ranges)
        except Exception as error:  # whatever a model does with an attention function that it does not know
            return f"{type(error).__name__}: {error}".splitlines()[0]
        tolerance = TOLERANCE[network.dtype] * (BY_RANGES if by_ranges else 1)
        if reason := _compare(seen, expected, real, tolerance):
            return reason
    return None


def _captured(network: PreTrainedModel, inputs: dict[str, Tensor], observe: Observe, *, by_ranges: bool) -> Seen:
    maps = _Maps(by_ranges)
    with observe(network, maps), small_blocks() if by_ranges else nullcontext():
        output = network(**inputs)
    return Seen(maps.layers(inputs["input_ids"].shape), output[0])


def _joined(blocks: list[tuple[Slices, Tensor]], examples: int, tokens: int) -> Tensor:
    count = max(heads.stop for (_, heads, _, _), _ in blocks)
    maps = blocks[0][1].new_full((examples, count, tokens, tokens), torch.nan)
    for block, attention in blocks:
        maps[block[:3]] = 0
        maps[block] = attention
    return maps


def _compare(seen: Seen, expected: Seen, real: Bool[Tensor, "example token"], tolerance: float) -> str | None:
    """The first difference between a captured and the eager pass, in words; None if there is none."""
    if len(seen.attentions) != len(expected.attentions):
        return f"{len(seen.attentions)} attention calls, expected {len(expected.attentions)}"
    for layer, (ours, theirs) in enumerate(zip(seen.attentions, expected.attentions, strict=True), start=1):
        if ours.shape != theirs.shape:
            return f"layer {layer} has attention of shape {tuple(theirs.shape)}, captured {tuple(ours.shape)}"
        if not rows_sum_to_one(ours, real, tolerance):
            return f"rows of layer {layer} do not sum to 1"
        # [example, query, head, key]
        difference = furthest(ours.transpose(1, 2), theirs.transpose(1, 2), real)
        if not difference <= tolerance:  # so also where it is NaN
            return f"attention of layer {layer} differs from eager by {difference:.1e}"
    difference = furthest(seen.output, expected.output, real)
    if not difference <= tolerance * max(1.0, expected.output.abs().amax().item()):
        return f"outputs differ from eager by {difference:.1e}"
    return None


def furthest(ours: Tensor, theirs: Tensor, real: Bool[Tensor, "example token"]) -> float:
    """The largest difference at real tokens, or at all where the axes are not [example, token, ...]."""
    difference = (ours - theirs).abs()
    difference = difference[real] if difference.shape[:2] == real.shape else difference
    return difference.amax().item() if difference.numel() else 0.0
