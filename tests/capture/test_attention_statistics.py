"""Statistics of attention for tensors of any model: closed forms, maps in float64, and both ways to compute them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headscope import HeadscopeError, attention_statistics
from support.interpreted import fused, refuse_without_triton

TOKENS, LENGTHS = 50, torch.tensor([50, 31])


def states() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    query, key = torch.randn(2, 4, TOKENS, 16), torch.randn(2, 2, TOKENS, 16)
    return query, key, torch.randint(-1, 3, (2, TOKENS))


def maps(query: Tensor, key: Tensor, hidden: Tensor, softcap: float | None = None) -> Tensor:
    scores = query.double() @ key.double().repeat_interleave(2, 1).mT / 4
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    real = torch.arange(TOKENS) < LENGTHS[:, None]
    return (
        scores.masked_fill(hidden | ~real[:, None, None], -torch.inf).softmax(-1).nan_to_num(0) * real[:, None, :, None]
    )


FAR_AWAY = (torch.arange(TOKENS) - torch.arange(TOKENS)[:, None]).abs() > 6
LATER = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
CASES: dict[str, tuple[dict[str, Any], Tensor]] = {
    "all": ({}, torch.zeros_like(LATER)),
    "causal": ({"causal": True}, LATER),
    "window": ({"window": 6, "softcap": 3.0}, FAR_AWAY),
    "causal window": ({"causal": True, "window": 6}, FAR_AWAY | LATER),
}


@pytest.mark.parametrize("by_kernels", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_of_maps(case: str, by_kernels: bool) -> None:
    (query, key, classes), (options, hidden) = states(), CASES[case]
    if by_kernels:
        refuse_without_triton()
        with fused():
            found = attention_statistics(query, key, lengths=LENGTHS, classes=classes, **options)
    else:
        found = attention_statistics(query, key, lengths=LENGTHS, classes=classes, **options)
    attention = maps(query, key, hidden, options.get("softcap"))
    close = {"rtol": 1e-5, "atol": 1e-5, "check_dtype": False}
    torch.testing.assert_close(found.entropy, torch.special.entr(attention).sum(-1), **close)
    torch.testing.assert_close(found.received, attention.sum(2).unflatten(1, (2, 2)).sum(2), **close)
    mass = torch.stack([(attention * (classes == kind)[:, None, None]).sum(-1) for kind in range(3)], -1)
    torch.testing.assert_close(found.mass, mass, **close)


@pytest.mark.parametrize("by_kernels", [False, True])
def test_a_sink_in_lse_takes_its_share(by_kernels: bool) -> None:
    query = key = torch.zeros(1, 1, 3, 16)
    lse = torch.full((1, 1, 3), 4.0).log()  # three keys of score 0, and a sink of the same
    if by_kernels:
        refuse_without_triton()
        with fused():
            found = attention_statistics(query, key, lse=lse)
    else:
        found = attention_statistics(query, key, lse=lse)
    assert found.received[0, 0].tolist() == pytest.approx([0.75] * 3)
    assert found.entropy[0, 0].tolist() == pytest.approx([0.75 * float(torch.tensor(4.0).log())] * 3)


def test_shapes_that_do_not_belong_together_are_refused() -> None:
    query, key, classes = states()
    with pytest.raises(HeadscopeError, match="4 heads cannot share 3 heads of keys"):
        attention_statistics(query, key.repeat(1, 2, 1, 1)[:, :3])
    with pytest.raises(HeadscopeError, match=r"query and key .* of the same tokens for both"):
        attention_statistics(query, key[:, :, :20])
    with pytest.raises(HeadscopeError, match=r"classes has the shape \(1, 50\); use \(2, 50\)"):
        attention_statistics(query, key, classes=classes[:1])
