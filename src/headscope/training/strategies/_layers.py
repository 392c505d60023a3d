"""The layers of an encoder before training."""

from torch import nn

from headscope.models.layer_modules import modules_by_layer
from headscope.training.initialisation import InitialModel


def layers(start: InitialModel) -> list[nn.Module]:
    """The layers, in order; in families with lists of parts the first part of each.

    Raises `HeadscopeError` if there is no list of as many modules as the configuration has layers.
    """
    number = getattr(start.network.config, "num_hidden_layers", -1)
    return [first for first, *_ in modules_by_layer(start.network, number, "use another way")]


def train_only(start: InitialModel, modules: list[nn.Module]) -> None:
    """Freeze all weights but the new ones and those of some modules."""
    wanted = {weight for module in modules for weight in module.parameters()}
    for name, weight in start.network.named_parameters():
        weight.requires_grad = name in start.new or weight in wanted
