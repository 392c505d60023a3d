"""One layer's attention by the kernels, with the statistics of its heads."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from headscope.capture import fused_kernels as compiled
from headscope.capture.band import ALL, Band

kernels: Any = compiled  # no type describes how they are launched
LOG2_E = math.log2(math.e)
# Numbers of queries and keys of a tile, warps and stages of a kernel, by bytes of a number: the fastest on an H100.
ATTEND = {2: (128, 64, 4, 3), 4: (64, 64, 4, 2)}
NARROW = {2: (128, 64, 4, 3), 4: (128, 32, 4, 2)}  # of heads up to 32 wide
RECEIVE = {2: (32, 128, 4, 3), 4: (32, 128, 4, 2)}
PAIRS = 64


@dataclass(frozen=True)
class TokenMarks:
    """Numbers of tokens, most of them 0: of kinds of queries, or of keys that are marked."""

    numbers: Int[Tensor, "example token"]
    _tiles: dict[int, Tensor] = field(default_factory=dict, repr=False)

    def by(self, size: int) -> tuple[Tensor, Tensor]:
        """The numbers, and which tiles of this many tokens have one above 0; found once for all layers."""
        if size not in self._tiles:
            padded = pad(self.numbers, (0, -self.numbers.shape[1] % size))
            self._tiles[size] = (padded.unflatten(1, (-1, size)) > 0).any(-1).to(torch.int32)
        return self.numbers, self._tiles[size]


@dataclass(frozen=True)
class LayerAttention:
    """Queries and keys of one layer, and how scores become attention: exp(cap * tanh(scale q k / cap)) in a band.

    * `lengths`: the tokens of each example that are not padding, which stands after them.
    * `softcap`: None for scores as they are.
    """

    query: Float[Tensor, "example head token width"]
    key: Float[Tensor, "example key_head token width"]
    lengths: Int[Tensor, " example"]
    scale: float
    softcap: float | None = None
    band: Band = ALL

    @property
    def _shape(self) -> dict[str, Any]:
        heads, width = self.query.shape[1], self.query.shape[3]
        return {"GROUP": heads // self.key.shape[1], "D": _power(width), "CAPPED": self.softcap is not None}

    @property
    def _scores(self) -> tuple[Any, ...]:
        cap = 0.0 if self.softcap is None else self.softcap * LOG2_E
        return self.scale * LOG2_E, cap, self.band.left, self.band.right

    @property
    def _strides(self) -> tuple[int, ...]:
        return *self.query.stride()[:3], *self.key.stride()[:3]

    def attend(
        self,
        value: Float[Tensor, "example key_head token value_width"] | None,
        lse: Float[Tensor, "example head token"],
        entropy: Float[Tensor, "example head token"],
        *,
        largest: Float[Tensor, "example head token"] | None = None,
        marked: Float[Tensor, "example head token"] | None = None,
        marks: TokenMarks | None = None,
        offsets: Float[Tensor, "example head offset block"] | None = None,
    ) -> Float[Tensor, "example token head value_width"]:
        """The output; `lse` (of base 2), `entropy` and what else is there are written."""
        (examples, heads, tokens, width), output = self.query.shape, value is not None
        value = self.key if value is None else value
        out = value.new_empty(examples, tokens, heads, value.shape[-1] if output else 0)
        queries, keys, warps, stages = attend_tiles(self.query)
        blocks, places = triton.cdiv(tokens, queries), (None, None) if marks is None else marks.by(keys)
        at = offsets.stride()[:2] if offsets is not None else (0, 0)
        kernels.attend[blocks, examples * heads](
            *(self.query, self.key, value, out, lse, entropy, largest, marked, offsets, *places, self.lengths),
            *(*self._scores, tokens, blocks, width, value.shape[-1]),
            *(*self._strides, *value.stride()[:3], *lse.stride()[:2], *entropy.stride()[:2], *at),
            HEADS=heads, DV=_power(value.shape[-1]), BM=queries, BN=keys, VALUES=output, MARKING=marked is not None,
            OFFSET=offsets is not None, BANDED=not self.band.is_all, PRECISION=precision(value.dtype),
            num_warps=warps, num_stages=stages, **self._shape,
        )  # fmt: skip
        return out

    def receive(
        self,
        lse: Float[Tensor, "example head token"],
        groups: TokenMarks,
        received: Float[Tensor, "example head 4 token"],
        weights: Float[Tensor, "example sum token token"] | None = None,
    ) -> Float[Tensor, "example head sum block"] | None:
        """Write what each key gets from all queries, from those of group 1, 2 and 0; sum attention times weights."""
        examples, heads, tokens, width = self.query.shape
        queries, keys, warps, stages = RECEIVE[self.query.element_size()]
        blocks, number = triton.cdiv(tokens, keys), 0 if weights is None else weights.shape[1]
        sums = received.new_empty(examples, heads, number, blocks) if number else None
        kernels.receive[blocks, examples * heads](
            *(self.query, self.key, lse, received, weights, sums, *groups.by(queries), self.lengths),
            *(*self._scores, tokens, width, *self._strides, *lse.stride()[:2], *received.stride()[:2]),
            HEADS=heads, BM=queries, BN=keys, WEIGHED=number, BANDED=not self.band.is_all,
            PRECISION=precision(self.query.dtype), num_warps=warps, num_stages=stages, **self._shape,
        )  # fmt: skip
        return sums

    def look(
        self,
        lse: Float[Tensor, "example head token"],
        pairs: Int[Tensor, "pair 4"],
        attention: Float[Tensor, "pair head"],
    ) -> None:
        """Write the attention of each pair (example, relation, query, key)."""
        if len(pairs):
            kernels.look[triton.cdiv(len(pairs), PAIRS), self.query.shape[1]](
                *(self.query, self.key, lse, pairs, attention, *self._scores, len(pairs), self.query.shape[3]),
                *(self.query.shape[2], *self._strides, *lse.stride()[:2], attention.stride(0)),
                B=PAIRS,
                **self._shape,
            )


def attend_tiles(query: Tensor) -> tuple[int, int, int, int]:
    """The tiles of `kernels.attend`."""
    return (ATTEND if query.shape[-1] > 32 else NARROW)[query.element_size()]


def offset_blocks(tokens: int, query: Tensor) -> int:
    """The number of blocks of queries in which sums at offsets come."""
    return triton.cdiv(tokens, attend_tiles(query)[0])


def precision(dtype: torch.dtype) -> str:
    """The format of products: three in tf32 are as exact as float32; a single one is off by 3.5e-3 nats."""
    return "tf32x3" if dtype == torch.float32 else "tf32"


def _power(width: int) -> int:
    return max(16, triton.next_power_of_2(width))
