"""The modules of each layer of a network, and how far their weights moved."""

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from headscope.capture.spread import stored
from headscope.errors import HeadscopeError
from headscope.models.model import Model

Parts = list[list[nn.Module]]


def layer_modules(model: Model, remedy: str = "use another model") -> Parts:
    """The modules of each layer of a model; see `modules_by_layer`."""
    return modules_by_layer(model.network, len(model.capture.heads), remedy)


def modules_by_layer(network: PreTrainedModel, layers: int, remedy: str = "use another model") -> Parts:
    """The modules of each layer: one, or several in families with lists of parts (XLM).

    Raises `HeadscopeError`, with a remedy, if so many layers cannot be identified.
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
    """The length of the difference of two layers' weights, by that of the first; NaN for other names or sizes."""
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
