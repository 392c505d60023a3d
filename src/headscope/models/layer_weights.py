"""The weights of each layer, and of each head: its rows or columns of the linear maps of its layer's attention."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from headscope.capture.projections import Attention, attentions
from headscope.capture.spread import stored
from headscope.errors import HeadscopeError
from headscope.models.head_slicing import BY_HEAD, HEADS, sizes
from headscope.models.model import Model

Parts = list[list[nn.Module]]


def layer_modules(model: Model, remedy: str = "use another model") -> Parts:
    """The modules of each layer of a model; see `modules_by_layer`."""
    return modules_by_layer(model.network, len(model.capture.heads), remedy)


def modules_by_layer(network: PreTrainedModel, layers: int, remedy: str = "use another model") -> Parts:
    """The modules of each layer: one, or several in families with lists of parts (XLM).

    Raises `HeadscopeError`, with a remedy, if this many layers cannot be identified.
    """
    lists: dict[str, nn.ModuleList] = {}
    for path, module in network.base_model.named_modules():
        within = any(path.startswith(f"{outer}.") for outer in lists)
        if isinstance(module, nn.ModuleList) and len(module) == layers and not within:
            lists[path] = module
    if not lists:
        raise HeadscopeError(f"model type '{network.config.model_type}': its layers cannot be identified; {remedy}")
    return [list(modules) for modules in zip(*lists.values(), strict=True)]


def moved(ours: list[nn.Module], others: list[nn.Module]) -> float:
    """The length of the difference of two layers' weights, divided by that of the first; NaN if they do not match."""
    mine, theirs = _weights(ours), _weights(others)
    if {name: weight.shape for name, weight in mine.items()} != {name: weight.shape for name, weight in theirs.items()}:
        return float("nan")
    pairs = [(mine[name].double().cpu(), theirs[name].double().cpu()) for name in mine]
    difference = sum(float((first - second).square().sum()) for first, second in pairs)
    return float((difference / sum(float(first.square().sum()) for first, _ in pairs)) ** 0.5)


def _weights(modules: list[nn.Module]) -> dict[str, Tensor]:
    return {
        f"{number} {name}": stored(module, name, weight.detach())
        for number, module in enumerate(modules)
        for name, weight in module.named_parameters()
        if torch.is_floating_point(weight)
    }


@dataclass(frozen=True)
class HeadWeight:
    """A weight of a layer's attention, and where in it its heads lie.

    * `weight`: of the map to queries, keys, values or all three, or of the output map.
    * `dim`: the dimension that heads share; `shape`: this dimension taken apart; `axis`: that of the heads in `shape`.
    """

    weight: nn.Parameter
    dim: int
    shape: tuple[int, ...]
    axis: int

    def norms(self, tensor: Tensor) -> Float[Tensor, " head"]:
        """The length of each head's part of a tensor of the weight's size, such as its gradient."""
        parts = tensor.unflatten(self.dim, self.shape)
        heads = self.dim + self.axis
        return torch.linalg.vector_norm(parts, dim=[dim for dim in range(parts.ndim) if dim != heads])


def head_weights(network: nn.Module, layers: int) -> list[list[HeadWeight]]:
    """The weights of the heads of each layer; of grouped queries without keys and values, and no biases."""
    read = list(attentions(network))
    if len(read) != layers:
        return []
    by_head = getattr(network.config, "model_type", "") in BY_HEAD
    parts = [_of_layer(attention, by_head) for attention in read]
    return parts if all(parts) else []


def head_norms(weights: list[HeadWeight], tensors: list[Tensor]) -> Float[Tensor, " head"]:
    """The length of all weights of each head of a layer; `tensors` are they, their gradients or their updates."""
    norms = [weight.norms(tensor) for weight, tensor in zip(weights, tensors, strict=True)]
    return torch.linalg.vector_norm(torch.stack(norms), dim=0)


def _of_layer(attention: Attention, by_head: bool) -> list[HeadWeight]:
    heads = _number(attention.module)
    size = sizes(attention.output)[0]
    if not heads or size % heads:
        return []
    width = size // heads
    weights = [_weight(attention.output, (heads, width), 0, inputs=True)]
    for module in dict.fromkeys(attention.inputs):
        n_outputs = sizes(module)[1]
        if n_outputs in (size, 3 * size):
            parts = n_outputs // size
            shape, axis = ((heads, parts * width), 0) if by_head else ((parts, heads, width), 1)
            weights.append(_weight(module, shape, axis, inputs=False))
    return weights


def _weight(linear: Any, shape: tuple[int, ...], axis: int, *, inputs: bool) -> HeadWeight:
    dim = int(inputs) if not isinstance(linear, Conv1D) else 1 - int(inputs)
    return HeadWeight(linear.weight, dim, shape, axis)


def _number(module: nn.Module) -> int:
    """The number of heads that a layer's attention says it has; 0 if it says none."""
    for part in module.modules():
        for name in HEADS:
            if isinstance(number := getattr(part, name, None), int):
                return number
    return 0
