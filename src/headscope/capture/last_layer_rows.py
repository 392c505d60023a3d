"""The last layer for a few tokens of each example, which attend to all without a key or a value being formed.

A score is q . (W_K x) = (W_K^T q) . x, and a context W_V (sum of a x): for few queries, moving them into the space of
the states, and their means of states out of it, costs far less than the keys and values of all tokens.

It is exact where no position is added within attention, and queries, keys and values are made from the very states
that enter the layer. Who uses it has to check that (`attention_switch`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headscope.capture.attention_function import for_each_head, refuse_unknown
from headscope.capture.attention_switch import attending
from headscope.capture.interventions import Contexts, Replacement, seen_by
from headscope.capture.layer_stack import Stack, instead
from headscope.capture.projections import Projections


@dataclass(frozen=True)
class LastLayerRows:
    """Attention from the queries that a layer makes to all `states`; see `switch.attending`.

    * `states`: what keys and values would be made from.
    * `disabled`: heads whose contexts are replaced, of each example or of all; None for no head.
    * `replacement`: what they are replaced by, from the mean of the values.
    """

    projections: Projections
    states: Float[Tensor, "example token width"]
    disabled: Bool[Tensor, "#example head"] | None = None
    replacement: Replacement | None = None

    def __call__(
        self,
        module: nn.Module,
        query: Float[Tensor, "example head row width"],
        key: Float[Tensor, "example group row width"],
        value: Float[Tensor, "example group row width"],
        attention_mask: Float[Tensor, "example 1 query token"] | None,
        scaling: float | None = None,
        **keywords: Any,
    ) -> tuple[Contexts, None]:
        """Context vectors of the few queries; `key` and `value`, which cover these tokens only, are not read.

        Raises `NotImplementedError` where queries see different keys, and for a keyword that it would ignore.
        """
        refuse_unknown(keywords)
        _, heads, rows, width = query.shape
        groups, seen = value.shape[1], self._seen(attention_mask)
        query = query * (width**-0.5 if scaling is None else scaling)
        moved = torch.einsum("ehrw,hwd->ehrd", query, _by_head(weight(self.projections.key), heads, groups))
        # [example, head, row, state] -> [example, head_row, token]
        scores = (moved.flatten(1, 2) @ self.states.mT).masked_fill(~seen, -torch.inf)
        attention = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(scores.dtype)
        # [example, head, row, state]
        means = (attention @ self.states).unflatten(1, (heads, rows))
        # [example, row, head, width]
        contexts = torch.einsum("ehrd,hwd->erhw", means, _by_head(weight(self.projections.value), heads, groups))
        if isinstance(bias := self.projections.value.bias, Tensor):
            contexts = contexts + _by_head(bias, heads, groups)
        if self.disabled is not None and self.replacement is not None:
            instead = self._replaced(self.replacement, seen, groups)
            contexts = torch.where(self.disabled[:, None, :, None], instead, contexts)
        return contexts, None

    def _seen(self, mask: Tensor | None) -> Bool[Tensor, "#example 1 token"]:
        """Mask of the tokens that every query sees."""
        if mask is None:
            return self.states.new_ones(1, 1, self.states.shape[1], dtype=torch.bool)
        seen = seen_by(mask)
        if seen.shape[1:3] != (1, 1):
            raise NotImplementedError("not all tokens see the same")
        return seen[:, 0]

    def _replaced(self, replacement: Replacement, seen: Bool[Tensor, "#example 1 token"], groups: int) -> Contexts:
        """The replacement contexts, from the value of the mean state, which is the mean of the values."""
        share = seen.to(self.states.dtype) / seen.sum(-1, keepdim=True)
        value = self.projections.value(share @ self.states)
        # [example, 1, group * width] -> [example, group, 1, width]
        return replacement(value.unflatten(-1, (groups, -1)).transpose(1, 2), None)


@contextmanager
def last_layer_at(layers: Stack, projections: Projections, rows: Int[Tensor, "example row"]) -> Iterator[None]:
    """Within this context and `switchable`, the last layer and all that follows runs for the tokens `rows` alone."""
    last = layers.layers[-1]
    forward = last.forward

    def few(states: Float[Tensor, "example token width"], *arguments: Any, **keywords: Any) -> Any:
        with attending(LastLayerRows(projections, states)):
            return forward(at(states, rows), *arguments, **keywords)

    with instead({last: few}):
        yield


def at(tensor: Float[Tensor, "example token *width"], rows: Int[Tensor, "example row"]) -> Tensor:
    """The entries of a tensor at the tokens `rows` of each example.

    >>> at(torch.tensor([[5, 6, 7]]), torch.tensor([[2, 0]]))
    tensor([[7, 5]])
    """
    return tensor[torch.arange(len(rows), device=rows.device)[:, None], rows]


def weight(linear: nn.Module) -> Float[Tensor, "output input"]:
    """The weights of a linear map."""
    weights: Any = linear.weight
    return weights.T if isinstance(linear, Conv1D) else weights


def _by_head(weights: Tensor, heads: int, groups: int) -> Float[Tensor, "head width *input"]:
    """The rows of each head apart; heads that share their keys and values have the same."""
    # [group * width, *input] -> [head, width, *input]
    return for_each_head(weights.unflatten(0, (groups, -1)), heads, dim=0)
