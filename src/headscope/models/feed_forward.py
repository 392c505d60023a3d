"""The linear maps of the feed-forward part of each layer, found by their sizes: into the neurons, and out of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from headscope.capture.layer_stack import Stack
from headscope.capture.projections import attentions
from headscope.models.head_slicing import keep_rows, sizes


@dataclass(frozen=True)
class FeedForward:
    """The feed-forward part of a layer, with this many neurons as its `width`.

    * `inputs`: the maps into the neurons: one, or two where one gates the other, or one that makes both.
    """

    inputs: tuple[nn.Module, ...]
    output: nn.Module
    width: int


def feed_forwards(stack: Stack) -> tuple[FeedForward, ...] | None:
    """The feed-forward part of each layer; None where a layer has another structure, such as several experts.

    >>> from headscope.capture.layer_stack import stack
    >>> from headscope.models import load
    >>> [part.width for part in feed_forwards(stack(load("minilm").network, 6))]
    [1536, 1536, 1536, 1536, 1536, 1536]
    """
    return _of_all(stack.layers, stack.network)


def unrun_feed_forwards(network: PreTrainedModel, layers: int) -> tuple[FeedForward, ...] | None:
    """The same for a network that cannot run yet: of the first list of this many modules that all have such a part."""
    lists = (tuple(module) for module in network.modules() if isinstance(module, nn.ModuleList))
    stacks = (_of_all(modules, network) for modules in lists if len(modules) == layers)
    return next((maps for maps in stacks if maps), None)


def _of_all(layers: Sequence[nn.Module], network: PreTrainedModel) -> tuple[FeedForward, ...] | None:
    """The feed-forward part of each of some layers; None where one has another structure."""
    maps = [_feed_forward(layer, network.config.get_text_config().hidden_size) for layer in layers]
    complete = tuple(part for part in maps if part)
    return complete if len(complete) == len(maps) else None


def _feed_forward(layer: nn.Module, hidden: int) -> FeedForward | None:
    attended: set[nn.Module] = set()
    for attention in attentions(layer):
        attended |= {*attention.module.modules(), *attention.inputs, attention.output}
    maps: list[Any] = [
        module for module in layer.modules() if isinstance(module, nn.Linear | Conv1D) and module not in attended
    ]
    if len(maps) < 2 or not attended:
        return None
    *inputs, output = maps
    width, written = sizes(output)
    if not width:  # all of its neurons are removed
        return None
    shapes = [sizes(linear) for linear in inputs]
    parts = sum(outputs // width for _, outputs in shapes)
    sound = written == hidden and all(read == hidden and not outputs % width for read, outputs in shapes)
    return FeedForward(tuple(inputs), output, width) if sound and parts <= 2 else None


@contextmanager
def entering(outputs: Sequence[nn.Module], see: Callable[[int, Tensor], Tensor | None]) -> Iterator[None]:
    """Within this context `see(layer, values)` is called where values enter the output map of a layer, from 0.

    * `see`: what it returns takes the place of the values [example, token, neuron], unless it is None.
    """

    def hook(layer: int) -> Any:
        def at(module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
            changed = see(layer, args[0])
            return None if changed is None else (changed, *args[1:])

        return at

    handles = [output.register_forward_pre_hook(hook(layer)) for layer, output in enumerate(outputs)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def width_name(network: PreTrainedModel, width: int) -> str | None:
    """The name of the feed-forward width in the configuration of a network; None if it has none.

    >>> from headscope.models import load
    >>> width_name(load("minilm").network, 1536)
    'intermediate_size'
    """
    names = ("intermediate_size", "hidden_dim", "n_inner", "ffn_dim", "encoder_ffn_dim", "d_ff")
    config = network.config.get_text_config()
    stored = {name: getattr(config, name) for name in names if hasattr(config, name)}
    if stored.get("n_inner", 0) is None:  # GPT-2 has four times the width of its states then
        return "n_inner"
    return next((name for name, value in stored.items() if value == width), None)


def slice_neurons(maps: Sequence[FeedForward], kept: Sequence[Sequence[int]]) -> None:
    """Cut the feed-forward part of each layer down to the neurons `kept`, from 0."""
    for part, some in zip(maps, kept, strict=True):
        if len(some) == part.width:
            continue
        for linear in part.inputs:
            parts = sizes(linear)[1] // part.width
            rows = torch.arange(sizes(linear)[1]).view(parts, part.width)[:, list(some)].flatten()
            keep_rows(linear, rows, inputs=False)
        keep_rows(part.output, torch.tensor(some, dtype=torch.long), inputs=True)
