"""Softmax of shifted scores, and the entropy of its rows."""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.observer import RowEntropy

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
