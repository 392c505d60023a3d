"""The layer of tanh units of the baseline of distances, and its gradient by hand.

Of all parsers this one alone has large intermediate values, a vector for each pair of words. They are made, and their
gradient is, for a few sentences at a time, which stay in the processor's cache.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

# Most numbers of a part: 2 MiB.
CACHE = 1 << 19
ByWord = Float[Tensor, "sentence word unit"]


class UnitScores(torch.autograd.Function):
    """weights . tanh(at_offset[j - i] + dependent_i + candidate_j) of each word i and candidate j, ROOT first."""

    @staticmethod
    def forward(
        ctx: Any,
        at_offset: Float[Tensor, "sentence offset unit"],
        dependent: ByWord,
        candidate: Float[Tensor, "sentence candidate unit"],
        weights: Float[Tensor, " unit"],
    ) -> Float[Tensor, "sentence word candidate"]:
        """The scores; the offsets are those of `offsets`."""
        sentences, words, units = dependent.shape
        order, hidden = offsets(words).to(dependent.device).flatten(), []
        size = max(1, CACHE // (words * (words + 1) * units))
        for first in range(0, sentences, size):
            part = slice(first, first + size)
            pairs = at_offset[part].index_select(1, order).unflatten(1, (words, words + 1))
            hidden.append(pairs.add_(dependent[part, :, None]).add_(candidate[part, None]).tanh_())
        ctx.order = order
        ctx.save_for_backward(weights, *hidden)
        return torch.cat([part @ weights for part in hidden])

    @staticmethod
    def backward(ctx: Any, gradient: Float[Tensor, "sentence word candidate"]) -> tuple[Tensor, ...]:  # pyright: ignore[reportIncompatibleMethodOverride] (torch's has any arguments)
        """The gradients of all four arguments."""
        weights, *hidden = ctx.saved_tensors
        words, found, at_weights = gradient.shape[1], [], torch.zeros_like(weights)
        for part, at_score in zip(hidden, gradient.split(len(hidden[0])), strict=True):
            at_weights += torch.mv(part.flatten(0, 2).T, at_score.flatten())
            # The derivative of tanh; the weights are a factor of sums, which are smaller.
            at_pairs = part.square().neg_().add_(1).mul_(at_score[..., None])
            at_offset = part.new_zeros(len(part), 2 * words, len(weights))
            at_offset.index_add_(1, ctx.order, at_pairs.flatten(1, 2))
            found.append((at_offset, at_pairs.sum(2), at_pairs.sum(1)))
        at_offset, dependent, candidate = (torch.cat(parts) * weights for parts in zip(*found, strict=True))
        return at_offset, dependent, candidate, at_weights


def offsets(words: int) -> Int[Tensor, "word candidate"]:
    """The row of each pair among the offsets from `1 - words` to `words - 1`, which ROOT follows.

    >>> offsets(2).tolist()
    [[3, 1, 2], [3, 0, 1]]
    """
    places = torch.arange(words)
    root = torch.full((words, 1), 2 * words - 1)
    return torch.cat([root, places - places[:, None] + words - 1], dim=1)
