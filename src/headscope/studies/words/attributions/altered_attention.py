"""Attention that is erased, permuted or made even: interventions in copies of one input.

The largest weights erased against random ones: Serrano and Smith 2019, section 3; permuted and uniform weights: Jain
and Wallace 2019, section 4.2.1, and Wiegreffe and Pinter 2019, section 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.capture.observer import HIDDEN

# Erased shares of the keys that a query sees, by the name of the alteration.
LARGEST = {"largest_10": 0.1, "largest_50": 0.5}
RANDOM = {"random_10": 0.1, "random_50": 0.5}
# Alterations, and how often each is drawn.
DRAWS = dict.fromkeys(LARGEST, 1) | dict.fromkeys(RANDOM, 2) | {"permuted": 5, "uniform": 1}
# The keys that each query of each head sees.
Seen = Bool[Tensor, "*dims query key"]
Maps = Float[Tensor, "*dims query key"]


@dataclass(frozen=True)
class Variant:
    """A copy of an input: how its attention is altered, in which layer (from 0; None: in all), and by which draw."""

    alteration: str
    layer: int | None
    draw: int


def variants(layers: int) -> list[Variant]:
    """All variants of an input: each alteration in all layers at once, and in each alone.

    >>> len(variants(6))
    84
    """
    scopes = (None, *range(layers))
    return [Variant(name, layer, draw) for name, draws in DRAWS.items() for layer in scopes for draw in range(draws)]


@dataclass(frozen=True)
class Altered:
    """An intervention that alters the attention of each example of a batch as its variant says.

    * `key`: numbers from which random ones follow, such as the seed and the number of the input.
    """

    variants: Sequence[Variant]
    key: tuple[int, ...]

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        changed = attention.clone()
        for row, variant in enumerate(self.variants[examples]):
            if variant.layer in (None, layer):
                noise = self._noise(variant.draw, layer, attention.shape[1], attention.shape[-1])[:, queries]
                changed[row] = altered(
                    variant.alteration, attention[row], scores[row] > HIDDEN, noise.to(attention.device)
                )
        return changed

    def _noise(self, draw: int, layer: int, heads: int, tokens: int) -> Float[Tensor, "head query key"]:
        random = np.random.default_rng([*self.key, draw, layer])
        return torch.from_numpy(random.random((heads, tokens, tokens), np.float32))


@dataclass(frozen=True)
class Replaced:
    """An intervention that replaces the attention of each layer by maps: [copy, head, query, key]."""

    maps: Sequence[Maps]

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        return self.maps[layer][examples, :, queries]


@dataclass(frozen=True)
class OneHead:
    """An intervention that puts a map, [copy, query, key], in the place of one head's in the first layer that runs.

    * `heads`: the head of each copy.
    """

    maps: Maps
    heads: Int[Tensor, " copy"]

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        if layer:
            return attention
        chosen = torch.arange(attention.shape[1], device=attention.device) == self.heads[examples, None]
        return torch.where(chosen[..., None, None], self.maps[examples, None, queries], attention)


@dataclass(frozen=True)
class Recorded:
    """An intervention that changes nothing, and keeps the attention of a pass over copies of an input.

    * `maps`: of each layer, [copy, head, query, key]; `seen`: the keys that each query sees, of the same shape.
    """

    copies: int
    maps: list[Maps] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        if layer == len(self.maps):
            heads, tokens = attention.shape[1], attention.shape[-1]
            self.maps.append(attention.new_zeros(self.copies, heads, tokens, tokens))
            self.seen.append(torch.zeros_like(self.maps[-1], dtype=torch.bool))
        self.maps[layer][examples, :, queries] = attention
        self.seen[layer][examples, :, queries] = scores > HIDDEN
        return attention


def altered(alteration: str, attention: Maps, seen: Seen, noise: Maps) -> Maps:
    """The attention of a layer after an alteration, a key of `DRAWS`; `noise` are random numbers from 0 to 1."""
    if alteration == "uniform":
        return even(seen, attention)
    if alteration == "permuted":
        return permuted(attention, seen, noise)
    if alteration in LARGEST:
        return erased(attention, attention, seen, LARGEST[alteration])
    return erased(attention, noise, seen, RANDOM[alteration])


def erased(attention: Maps, order: Maps, seen: Seen, share: float) -> Maps:
    """Each row without a share of the keys that it sees, those of largest `order`; the rest is made to sum to 1.

    At least one key is erased and one is kept; where nothing is left of the weights, those of kept keys are even.

    >>> row = torch.tensor([[0.5, 0.25, 0.125, 0.125]])
    >>> erased(row, row, torch.ones(1, 4, dtype=torch.bool), 0.25)
    tensor([[0.0000, 0.5000, 0.2500, 0.2500]])
    """
    number = seen.sum(-1, keepdim=True)
    count = torch.minimum((share * number).round().clamp_min(1), number - 1)
    ranks = torch.where(seen, order, -1).argsort(dim=-1, descending=True, stable=True).argsort(-1)
    kept = seen & (ranks >= count)
    rest = attention * kept
    total = rest.sum(-1, keepdim=True)
    return torch.where(total > 0, rest / total.clamp_min(torch.finfo(rest.dtype).tiny), even(kept, attention))


def permuted(attention: Maps, seen: Seen, noise: Maps) -> Maps:
    """The weights of each row in random order, over the keys that it sees.

    >>> row, seen = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[True, True, False]])
    >>> permuted(row, seen, torch.tensor([[0.9, 0.1, 0.5]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    shuffled = torch.where(seen, noise, 2).argsort(-1)
    in_order = (~seen).to(torch.uint8).argsort(dim=-1, stable=True)
    return torch.zeros_like(attention).scatter(-1, in_order, attention.gather(-1, shuffled))


def even(seen: Seen, attention: Maps) -> Maps:
    """The same weight for each key that a query sees, in the type of `attention`."""
    keys = seen.to(attention.dtype)
    return keys / keys.sum(-1, keepdim=True).clamp_min(1)


def divergence(ones: Maps, others: Maps) -> Float[Tensor, "*dims query"]:
    """The Jensen-Shannon divergence of the rows of two maps, in nats: at most ln 2.

    >>> divergence(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[0.0, 1.0], [0.5, 0.5]]))
    tensor([0.6931, 0.0000])
    """
    return _entropy((ones + others) / 2) - (_entropy(ones) + _entropy(others)) / 2


def _entropy(rows: Maps) -> Tensor:
    # A clamped logarithm has a finite gradient at 0.
    return -(rows * rows.clamp_min(1e-30).log()).sum(-1)
