"""A model with fewer heads or neurons in some layers, written by headscope; config.json lists the changed parts.

`headscope_pruning` in config.json has the new sizes of linear maps ("maps": [outputs, inputs] of a weight, as stored),
the new numbers in modules ("numbers"), and the kept heads where all layers share a position bias ("bias").
"""

import inspect
from functools import partial
from typing import Any

from torch import nn


class PrunedHeads:
    """Cuts the parts of the model that config.json lists, before its weights are loaded."""

    def __init__(self, config: Any, *args: Any, **options: Any):
        super().__init__(config, *args, **options)  # type: ignore[call-arg]
        base, parts = self.base_model, config.headscope_pruning  # type: ignore[attr-defined]
        for path, shape in parts["maps"].items():
            _cut(base.get_submodule(path), shape)
        for path, numbers in parts["numbers"].items():
            for name, number in numbers.items():
                setattr(base.get_submodule(path), name, number)
        for path, kept in parts["bias"].items():
            base.get_submodule(path).register_forward_pre_hook(partial(_cut_bias, kept), with_kwargs=True)


def _cut(linear: Any, shape: list[int]) -> None:
    """Cut a linear map to a shape of its weight, [output, input] or for GPT-2's Conv1D [input, output]."""
    rows, columns = shape
    linear.weight = nn.Parameter(linear.weight.detach()[:rows, :columns].clone())
    if linear.bias is not None:
        outputs = rows if isinstance(linear, nn.Linear) else columns
        linear.bias = nn.Parameter(linear.bias.detach()[:outputs].clone())
    sizes = (columns, rows) if isinstance(linear, nn.Linear) else (rows, columns)
    for name, size in zip(("in_features", "out_features", "nx", "nf"), (*sizes, *sizes), strict=True):
        if hasattr(linear, name):
            setattr(linear, name, size)


def _cut_bias(kept: list[int], module: nn.Module, args: tuple, options: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Cut a position bias of all heads, [example, head, query, key], to the kept heads (from 0)."""
    arguments = inspect.signature(module.forward).bind(*args, **options)
    bias = arguments.arguments.get("position_bias")
    if bias is not None:
        arguments.arguments["position_bias"] = bias[:, kept]
    return arguments.args, arguments.kwargs
