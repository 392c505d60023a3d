"""The linear maps of attention: to queries, keys and values, and from the heads' outputs to the layer's output."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from headscope.capture.eager import check_inputs
from headscope.capture.self_check import CAPTURES, Capture
from headscope.capture.transformers_logging import quiet

# What families call them, below the module of a layer's attention; one name where the three are fused.
INPUTS = (
    *(("self.query", "self.key", "self.value"), ("query", "key", "value")),
    *(("self.query_proj", "self.key_proj", "self.value_proj"), ("query_proj", "key_proj", "value_proj")),
    *(("q_proj", "k_proj", "v_proj"), ("q_lin", "k_lin", "v_lin"), ("q", "k", "v")),
    *(("self.in_proj",), ("Wqkv",), ("c_attn",), ("query_key_value",), ("qkv_proj",)),
)
OUTPUTS = ("output.dense", "out_proj", "o_proj", "out_lin", "o", "Wo", "c_proj", "dense")


@dataclass(frozen=True)
class Projections:
    """The linear maps of one layer's attention: each `nn.Linear`, or GPT-2's `Conv1D`, whose weight is transposed.

    The output projection reads the heads' context vectors side by side: head h, from 0, in the columns
    h * width to (h + 1) * width.

    * `query`, `key`, `value`: one and the same module where they are fused, in an order that families differ in.
    * `heads`: how many there are; of grouped queries, how many query heads.
    * `width`: the numbers in the context vector of one head.
    """

    query: nn.Module
    key: nn.Module
    value: nn.Module
    output: nn.Module
    heads: int
    width: int

    @property
    def fused(self) -> bool:
        """True if one module makes queries, keys and values."""
        return self.query is self.value


def projections(network: PreTrainedModel, capture: Capture) -> tuple[Projections, ...] | None:
    """The projections of each layer, in the order of its attention calls; None where they are not found for all.

    Layers that share their weights (ALBERT) have the same modules.

    >>> from headscope.models import load
    >>> model = load("minilm")
    >>> [each.width for each in projections(model.network, model.capture)]
    [32, 32, 32, 32, 32, 32]
    """
    named = {attention.output: attention for attention in attentions(network)}
    called = _called(network, capture, list(named))
    if [layer for layer, _, _ in called] != list(range(len(capture.heads))):
        return None
    calls = [(*call[1:], heads) for call, heads in zip(called, capture.heads, strict=True)]
    if not all(_side_by_side(context, heads) for _, context, heads in calls):
        return None
    return tuple(
        Projections(*named[output].inputs, output, heads, context.shape[-1] // max(1, heads))
        for output, context, heads in calls
    )


@contextmanager
def at_contexts(
    network: nn.Module, projections: Sequence[Projections], look: Callable[[int, Tensor], Tensor | None]
) -> Iterator[None]:
    """Within this context `look(layer, contexts)` is called in each layer of each forward pass.

    `contexts` [example, token, head * width] are the heads' outputs side by side, before the output projection
    mixes them; what `look` returns takes their place, unless it is None. Layers count from 0.
    """
    done = 0

    def start(module: nn.Module, args: tuple) -> None:
        nonlocal done
        done = 0

    def at(module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        nonlocal done
        done += 1
        changed = look(done - 1, args[0])
        return None if changed is None else (changed, *args[1:])

    # Modules that layers share are hooked once.
    outputs = dict.fromkeys(projection.output for projection in projections)
    handles = [network.register_forward_pre_hook(start), *(output.register_forward_pre_hook(at) for output in outputs)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Attention(NamedTuple):
    """The module of a layer's attention, and its linear maps: for query, key and value, and for its output."""

    module: nn.Module
    inputs: tuple[nn.Module, nn.Module, nn.Module]
    output: nn.Module


def attentions(network: nn.Module) -> Iterator[Attention]:
    """The modules of a network whose linear maps have the names of attention, in the order of its modules."""
    for module in network.modules():
        inputs = next((maps for names in INPUTS if (maps := _linear(module, names))), None)
        output = next((maps for name in OUTPUTS if (maps := _linear(module, (name,)))), None)
        if inputs and output:
            query, key, value = inputs * (3 // len(inputs))
            yield Attention(module, (query, key, value), output[0])


def _linear(module: nn.Module, names: tuple[str, ...]) -> tuple[nn.Module, ...] | None:
    try:
        maps = tuple(attrgetter(name)(module) for name in names)
    except AttributeError:
        return None
    return maps if all(isinstance(module, nn.Linear | Conv1D) for module in maps) else None


def _called(
    network: PreTrainedModel, capture: Capture, outputs: list[nn.Module]
) -> list[tuple[int, nn.Module, Tensor]]:
    """The calls of the output projections in a short forward pass: after which layer's attention, and with what.

    Every second head, from the first, has its attention set to 0.
    """
    called: list[tuple[int, nn.Module, Tensor]] = []

    def silence(layer: int, attention: Tensor, *_: object) -> Tensor:
        return attention * (torch.arange(attention.shape[1], device=attention.device) % 2)[None, :, None, None]

    with torch.inference_mode(), quiet(), CAPTURES[capture.method](network, silence, changes=True) as watch:

        def note(module: nn.Module, args: tuple[Tensor]) -> None:
            called.append((watch.calls - 1, module, args[0]))

        handles = [output.register_forward_pre_hook(note) for output in outputs]
        try:
            network(**check_inputs(network))
        finally:
            for handle in handles:
                handle.remove()
    return called


def _side_by_side(context: Tensor, heads: int) -> bool:
    """True if the context vectors of all heads, every second one silenced, stand one after the other."""
    if context.ndim != 3 or context.shape[-1] % max(1, heads):
        return False
    # [example, token, head, width], every second head
    return heads == 0 or not context.unflatten(-1, (heads, -1))[..., ::2, :].any()
