"""Softmax and entropy in few passes, against torch in double precision."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headscope.capture.attention_function import attend
from headscope.capture.softmax import Attention, exact_softmax, power_softmax, shifted
from headscope.capture.watch import PassWatch, watching

STATES = 6 * torch.randn(3, 2, 4, 30, 8, generator=torch.Generator().manual_seed(0))
REAL = torch.arange(30) <= torch.tensor([30, 17])[:, None, None, None]
MASK = torch.zeros(2, 1, 30, 30).masked_fill_(~REAL, -torch.inf)


def exact(scores: Tensor) -> Attention:
    return exact_softmax(shifted(scores))


def of_powers(scores: Tensor, scale: float = 1) -> Attention:
    attention = torch.empty_like(scores)
    return attention, power_softmax(scores, attention, scale)


def of_scaled(scores: Tensor) -> Attention:
    return of_powers(scores * 8, scale=1 / 8)


@pytest.mark.parametrize("size", [0.1, 1])  # of small scores exponents are made in one pass
@pytest.mark.parametrize("softmax", [exact, of_powers, of_scaled])
def test_softmax_and_entropy_are_those_of_double_precision(softmax, size):
    scores = size * (STATES[0] @ STATES[1].mT) + MASK.clamp_min(-1e30)
    expected = scores.double().softmax(-1)
    attention, entropy = softmax(scores.clone())
    torch.testing.assert_close(attention, expected.float(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(entropy(), torch.special.entr(expected).sum(-1).float(), rtol=1e-5, atol=1e-5)
    assert not attention[1, ..., 18:].any()


@pytest.mark.parametrize("some_heads", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_statistics_are_float32_whatever_the_weights(dtype: torch.dtype, some_heads: bool):
    seen: list[tuple[Tensor, Tensor]] = []

    def look(layer: int, attention: Tensor, *block: Any) -> None:
        seen.append((attention, block[2]()))

    vars(look)["some_heads"] = some_heads
    query, key, value = (states.to(dtype) for states in STATES)
    with watching(PassWatch(look)):
        output, _ = attend(nn.Identity(), query, key, value, MASK.to(dtype), scaling=0.125)
    ((attention, entropy),) = seen
    assert (output.dtype, attention.dtype, entropy.dtype) == (dtype, torch.float32, torch.float32)
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 4, 30))
    torch.testing.assert_close(entropy, torch.special.entr(attention).sum(-1), rtol=1e-5, atol=1e-5)
    exact = (0.125 * query.double() @ key.double().mT + MASK.double()).softmax(-1)
    tolerance = {torch.float32: 1e-5, torch.bfloat16: 0.1, torch.float16: 0.02}[dtype]
    torch.testing.assert_close(attention, exact.float(), rtol=0, atol=tolerance)
