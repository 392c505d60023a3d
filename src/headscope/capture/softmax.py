"""Softmax of shifted scores, the entropy of its rows, and a tap for models without the registered function."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from headscope.capture.observer import Intervention, Observer, RowEntropy, blocks
from headscope.capture.spread import home
from headscope.capture.watch import PassWatch, by_ranges, change, count, current, during_forward, show, watching

LOG2_E = math.log2(math.e)
# Scaled scores up to here are shifted and scaled in one pass, with an error of a share of 4e-6 at most.
EXACT = 64
Attention = tuple[Float[Tensor, "example head query key"], RowEntropy]


def shifted(scores: Float[Tensor, "example head query key"]) -> Float[Tensor, "example head query key"]:
    """The scores minus the largest of each row, in the same memory."""
    scores -= scores.detach().amax(-1, keepdim=True)
    return scores


def exact_softmax(scores: Float[Tensor, "example head query key"]) -> Attention:
    """Attention as transformers' eager functions compute it, to the last bit, and a function for its entropy."""
    attention = scores.softmax(-1)
    return attention, lambda: _entropy(attention, scores, -attention.amax(-1).log())


def power_softmax(scores: Float[Tensor, "example head query key"], attention: Tensor, scale: float = 1.0) -> RowEntropy:
    """Write the softmax of `scale` times the scores into `attention`, and change them; for statistics, not gradients.

    It takes powers of 2, a third of the time of those of e.

    >>> attention = torch.empty(1, 1, 2, 2)
    >>> entropy = power_softmax(torch.tensor([[[[4.0, 4.0], [400.0, -400.0]]]]), attention, scale=0.5)
    >>> attention.tolist(), entropy().round(decimals=6).tolist()
    ([[[[0.5, 0.5], [1.0, 0.0]]]], [[[0.693..., 0.0]]])
    """
    _write_exponents(scores, scale)
    torch.exp2(scores, out=attention)
    total = attention.sum(-1, keepdim=True)
    attention *= total.reciprocal()
    return lambda: _entropy(attention, scores, total.squeeze(-1).log2()) / LOG2_E


def _write_exponents(scores: Tensor, scale: float) -> None:
    """Scale and shift scores to exponents of 2, whose largest in each row is 0."""
    power, largest = scale * LOG2_E, scores.amax(-1, keepdim=True)
    if on_processor(scores) and scores.numel():  # elsewhere to look at a number is to wait for it
        least, most = largest.aminmax()
        if power * max(-float(least), float(most)) <= EXACT:
            torch.add(largest.mul_(-power), scores, alpha=power, out=scores)
            return
    scores.mul_(scale).sub_(largest.mul_(scale)).mul_(LOG2_E)  # rounded as in eager attention


def row_products(first: Tensor, second: Tensor) -> Tensor:
    """The sum of the products of both tensors over the last axis; on a processor without a product in memory."""
    if on_processor(first):
        return torch.from_numpy(np.vecdot(first.detach().numpy(), second.detach().numpy()))
    return torch.linalg.vecdot(first, second)


def on_processor(tensor: Tensor) -> bool:
    """Whether a tensor lies in the memory of the processor."""
    return tensor.device.type == "cpu"


def _entropy(attention: Tensor, scores: Tensor, log_sum: Tensor) -> Float[Tensor, "example head query"]:
    # log A is the score minus the logarithm of the sum: one logarithm a row instead of one a cell.
    return (log_sum - row_products(attention, scores)).to(torch.float32)


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
