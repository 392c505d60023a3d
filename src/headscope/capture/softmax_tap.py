"""Observe and change attention at the softmax, for models that do not call the registered attention function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from headscope.capture.observer import Intervention, Observer, blocks
from headscope.capture.spread import home
from headscope.capture.watch import PassWatch, by_ranges, change, count, current, during_forward, show, watching

SOFTMAX = {torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax}


class SoftmaxTap(TorchFunctionMode):
    """Show every square softmax of a forward pass to its watches, and insert the results of interventions.

    Self-attention is told from other softmaxes by its shape: [example, head, token, token], or the same
    with examples and heads flattened. The self-check at load makes sure that nothing else has it.
    """

    def __init__(self, shape: tuple[int, int]):
        """`shape` is the number of examples and of tokens of the inputs."""
        super().__init__()
        self.examples, self.tokens = shape

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> object:
        """Call `func`; if it was a square softmax, show its result."""
        result = func(*args, **(kwargs or {}))
        if func in SOFTMAX and result.shape[-2:] == (self.tokens, self.tokens) and result.ndim in (3, 4):
            return self._observe(result, args[0] if args else (kwargs or {})["input"])
        return result

    def _observe(self, result: Tensor, scores: Tensor) -> Tensor:
        watches, attention = current(), self._maps(result)
        changed = attention
        if any(watch.changes for watch in watches):
            scores = self._maps(scores).to(torch.promote_types(scores.dtype, torch.float32))
            scores = scores - scores.detach().amax(-1, keepdim=True)
            changed = change(watches, attention, slice(0, self.examples), slice(0, self.tokens), scores)
        split = by_ranges(watches)
        for examples, heads, queries in blocks(*attention.shape, device=attention.device, some_heads=split):
            show(watches, changed[examples, heads, queries], examples, queries, None, heads, slice(0, self.tokens))
        count(watches)
        return result if changed is attention else changed.reshape(result.shape).to(result.dtype)

    def _maps(self, tensor: Tensor) -> Tensor:
        # [example, head, query, key]
        return tensor.reshape(self.examples, -1, self.tokens, self.tokens)


@contextmanager
def tapped(network: PreTrainedModel, look: Observer | Intervention, *, changes: bool = False) -> Iterator[PassWatch]:
    """Within this context a forward pass of an eager model shows its attention to `look`.

    `changes` says that `look` is an intervention.
    """
    watch = PassWatch(look, changes, home(network))
    with during_forward(network, lambda inputs: _tapping(watch, tuple(inputs["input_ids"].shape))):
        yield watch


@contextmanager
def _tapping(watch: PassWatch, shape: tuple[int, int]) -> Iterator[None]:
    """A tap for one forward pass; all watches of the pass share it."""
    tap = nullcontext() if current() else SoftmaxTap(shape)
    with watching(watch), tap:
        yield
