"""Observe attention at the softmax, for models that do not call the registered attention function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from headscope.models.observer import Observer, blocks
from headscope.models.watch import Watch, during_forward

SOFTMAX = {torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax}


class SoftmaxTap(TorchFunctionMode):
    """Shows every square softmax of a forward pass to an observer.

    Self-attention is told from other softmaxes by its shape: [example, head, token, token], or the same
    with examples and heads flattened. The self-check at load makes sure that nothing else has it.
    """

    def __init__(self, watch: Watch, shape: tuple[int, int]):
        """`shape` is the number of examples and of tokens of the inputs."""
        super().__init__()
        watch.calls = 0
        self.watch = watch
        self.examples, self.tokens = shape

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> object:
        """Call `func`; if it was a square softmax, show its result."""
        result = func(*args, **(kwargs or {}))
        if func in SOFTMAX and result.shape[-2:] == (self.tokens, self.tokens) and result.ndim in (3, 4):
            self._show(result.reshape(self.examples, -1, self.tokens, self.tokens))
        return result

    def _show(self, attention: Tensor) -> None:
        for examples, queries in blocks(*attention.shape):
            block = attention[examples, :, queries].to(torch.float32)
            self.watch.observer(self.watch.calls, block, examples, queries, None)
        self.watch.calls += 1


@contextmanager
def tapped(network: PreTrainedModel, observer: Observer) -> Iterator[Watch]:
    """Within this context a forward pass of an eager model shows its attention to `observer`."""
    watch = Watch(observer)
    with during_forward(network, lambda inputs: SoftmaxTap(watch, tuple(inputs["input_ids"].shape))):
        yield watch
