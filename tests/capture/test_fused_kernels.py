"""Fused attention and its statistics, by Triton's interpreter: those of maps in float64."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from headscope.capture.band import ALL, FAR, Band
from support.interpreted import refuse_without_triton

refuse_without_triton()

from headscope.capture.fused_attention import LayerAttention, TokenMarks, offset_blocks  # noqa: E402

pytestmark = pytest.mark.always


@dataclass(frozen=True)
class Case:
    tokens: int = 70
    width: int = 16
    key_heads: int = 2
    band: Band = ALL
    softcap: float | None = None
    sharp: float = 1.0
    dtype: torch.dtype = torch.float32


# Triton's interpreter has no products of bfloat16; benchmarks/gpu.py has.
CASES = {
    "grouped keys": Case(),
    "several blocks, a width that is no power of 2": Case(tokens=130, width=24, key_heads=1),
    "causal": Case(band=Band(FAR, 0)),
    "a window of rows that see no key of a tile": Case(tokens=100, band=Band(5, 0)),
    "both sides": Case(tokens=100, band=Band(7, 7)),
    "a soft cap": Case(softcap=3.0, sharp=4.0),
    "large scores": Case(sharp=8.0),
    "one token": Case(tokens=1),
    "half precision": Case(dtype=torch.float16),
}
GROUPS = {"sep": 1, "cls": 2, "text": 0}


def maps_of(layer: LayerAttention) -> Tensor:
    query, key = layer.query.double(), layer.key.double()
    scores = query @ key.repeat_interleave(query.shape[1] // key.shape[1], 1).mT * layer.scale
    if layer.softcap:
        scores = layer.softcap * torch.tanh(scores / layer.softcap)
    real = (torch.arange(scores.shape[-1]) < layer.lengths[:, None])[:, None]
    scores = scores.masked_fill(~(real[:, :, None] & layer.band.of(scores.shape[-1])), -torch.inf)
    return scores.softmax(-1).nan_to_num(0) * real[..., None]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_statistics_are_those_of_maps(case: Case) -> None:
    torch.manual_seed(0)
    heads, size = 2, (2, case.tokens, case.width)
    query = torch.randn(2, heads, *size[1:]).mul(case.sharp).to(case.dtype)
    key, value = torch.randn(2, 2, case.key_heads, *size[1:]).to(case.dtype)
    lengths = torch.tensor([case.tokens, max(1, case.tokens - 37)], dtype=torch.int32)
    groups = torch.randint(0, 3, (2, case.tokens), dtype=torch.int32) * (torch.rand(2, case.tokens) < 0.2)
    weights = torch.rand(2, 5, case.tokens, case.tokens)
    pairs = torch.tensor([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, case.tokens // 2, case.tokens // 3]])
    lse, entropy, largest, marked = torch.full((4, 2, heads, case.tokens), torch.nan)
    received = torch.full((2, heads, 4, case.tokens), torch.nan)
    offsets, linked = torch.full((2, heads, 3, offset_blocks(case.tokens, query)), torch.nan), torch.empty(3, heads)
    layer, marks = (
        LayerAttention(query, key, lengths, case.width**-0.5, case.softcap, case.band),
        TokenMarks(groups.int()),
    )

    output = layer.attend(value, lse, entropy, largest=largest, marked=marked, marks=marks, offsets=offsets)
    sums = layer.receive(lse, marks, received, weights)
    layer.look(lse, pairs, linked)

    maps, rows = maps_of(layer), torch.arange(case.tokens)
    close: dict[str, Any] = {"rtol": 1e-4 if case.sharp > 4 else 2e-5, "atol": 2e-5}
    of_output = maps @ value.double().repeat_interleave(heads // case.key_heads, 1)
    torch.testing.assert_close(
        output.transpose(1, 2).double(), of_output, rtol=1e-5, atol=1e-3 if case.dtype == torch.float16 else 2e-5
    )
    torch.testing.assert_close(entropy.double(), torch.special.entr(maps).sum(-1), **close)
    torch.testing.assert_close(marked.double(), (maps * (groups > 0)[:, None, None]).sum(-1), **close)
    torch.testing.assert_close(received[:, :, 0].double(), maps.sum(2), **close)
    for number, group in enumerate(GROUPS.values(), start=1):
        expected = (maps * (groups == group)[:, None, :, None]).sum(2)
        torch.testing.assert_close(received[:, :, number].double(), expected, **close)
    at = torch.stack([maps.diagonal(offset, 2, 3).sum(-1) for offset in (-1, 0, 1)], -1)
    torch.testing.assert_close(offsets.sum(-1).double(), at, **close)
    torch.testing.assert_close(linked.double(), maps[pairs[:, 0], :, pairs[:, 2], pairs[:, 3]], **close)
    assert sums is not None
    torch.testing.assert_close(sums.sum(-1).double(), torch.einsum("ehqk,esqk->ehs", maps, weights.double()), **close)
    real = (rows < lengths[:, None])[:, None].expand_as(largest)
    assert torch.isfinite(lse).all() and (largest[~real] == 0).all()


def test_the_same_bits_twice() -> None:
    query, lengths = torch.randn(1, 2, 100, 16, generator=torch.Generator().manual_seed(1)), torch.tensor([90])
    layer, marks = LayerAttention(query, query, lengths.int(), 0.25), TokenMarks(torch.zeros(1, 100, dtype=torch.int32))

    def read() -> Tensor:
        lse, entropy = torch.empty(2, 1, 2, 100)
        received = torch.empty(1, 2, 4, 100)
        layer.attend(None, lse, entropy)
        layer.receive(lse, marks, received)
        return torch.cat([entropy.flatten(), received.flatten()])

    assert torch.equal(read(), read())
