"""A naive reference of disabled heads: whole forward passes of an eager model, with what a head gives overwritten.

Nothing of headscope is in it: the softmax and the products of torch are caught while the model calls them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

SOFTMAX = (torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax)
PRODUCTS = (torch.matmul, torch.Tensor.matmul, torch.bmm, torch.Tensor.__matmul__)


class Overwritten(TorchFunctionMode):
    """Overwrites the attention of the disabled heads in each square softmax, or the head's output with its mean."""

    def __init__(self, disabled: np.ndarray, mode: str, means: np.ndarray | None, heads: int, tokens: int):
        super().__init__()
        self.disabled, self.mode, self.means, self.heads, self.tokens = disabled, mode, means, heads, tokens
        self.layer = -1

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        """Call `func` and overwrite what it gives, if it is attention or what attention gives."""
        result = func(*args, **(kwargs or {}))
        square = (self.tokens, self.tokens)
        if func in SOFTMAX and result.shape[-2:] == square:
            self.layer += 1
            return self._attention(result.clone(), args[0])
        if func in PRODUCTS and self.mode == "mean" and args[0].shape[-2:] == square and self.layer >= 0:
            return self._output(result.clone())
        return result

    def _attention(self, attention: Tensor, scores: Tensor) -> Tensor:
        by_head = attention.view(-1, self.heads, self.tokens, self.tokens)
        seen = (scores.view_as(by_head) > -1e30).to(attention.dtype)
        for head in np.flatnonzero(self.disabled[self.layer]):
            if self.mode == "uniform":
                by_head[:, head] = seen[:, head] / seen[:, head].sum(-1, keepdim=True).clamp_min(
                    1
                )  # padding may see none
            if self.mode == "zero":
                by_head[:, head] = 0
        return attention

    def _output(self, output: Tensor) -> Tensor:
        by_head = output.view(-1, self.heads, *output.shape[-2:])
        for head in np.flatnonzero(self.disabled[self.layer]):
            assert self.means is not None
            by_head[:, head] = torch.from_numpy(self.means[self.layer, head]).to(output)
        return output


def ablated(
    network: PreTrainedModel,
    inputs: Mapping[str, Tensor],
    disabled: np.ndarray,
    mode: str = "uniform",
    means: np.ndarray | None = None,
) -> Tensor:
    """The logits of an eager model with the heads of `disabled` [layer, head] disabled."""
    assert network.config._attn_implementation in ("eager", None)
    layers, heads = disabled.shape
    overwritten = Overwritten(disabled, mode, means, heads, inputs["input_ids"].shape[1])
    with torch.inference_mode(), overwritten:
        answer: Any = network(**inputs)
    assert overwritten.layer == layers - 1
    return answer.logits
