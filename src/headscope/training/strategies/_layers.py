"""The layers of an encoder before training."""

from torch import nn

from headscope.errors import HeadscopeError
from headscope.training.initialisation import InitialModel


def layers(start: InitialModel) -> list[nn.Module]:
    """The layers, in order.

    Raises `HeadscopeError` if there is no list of as many modules as the configuration has layers.
    """
    config, base = start.network.config, start.network.base_model
    for module in base.modules():
        if isinstance(module, nn.ModuleList) and len(module) == getattr(config, "num_hidden_layers", 0):
            return list(module)
    raise HeadscopeError(f"model type '{config.model_type}': its layers cannot be identified; use another way")


def train_only(start: InitialModel, modules: list[nn.Module]) -> None:
    """Freeze all weights but the new ones and those of some modules."""
    wanted = {weight for module in modules for weight in module.parameters()}
    for name, weight in start.network.named_parameters():
        weight.requires_grad = name in start.new or weight in wanted
