"""Learning rates of their own for the layers of a network.

Smaller rates below keep what lower layers know (Howard and Ruder 2018, section 3.2); smaller rates above test whether
the last layers change most only because they move furthest.
"""

from collections.abc import Mapping
from itertools import takewhile

import torch
from transformers import PreTrainedModel

from headscope.models.layer_modules import modules_by_layer
from headscope.training.recipe import TrainingRecipe


def layer_rates(network: PreTrainedModel, recipe: TrainingRecipe) -> dict[int, float]:
    """By what the learning rate of a weight is multiplied, by the `id` of the weight; empty where all have one rate.

    With n layers, layer l has `decay ** (n - l) * growth ** (l - 1)`, what is below the first layer `decay ** n`, and
    all others, such as the classifier, have 1.

    Raises `HeadscopeError` if the layers cannot be identified.
    """
    decay, growth = recipe.layer_rate_decay, recipe.layer_rate_growth
    if decay == growth == 1:
        return {}
    number, factors = network.config.num_hidden_layers, {}
    remedy = "leave out --layer-rate-decay and --layer-rate-growth"
    for layer, parts in enumerate(modules_by_layer(network, number, remedy), 1):
        factor = decay ** (number - layer) * growth ** (layer - 1)
        factors |= {id(weight): factor for module in parts for weight in module.parameters()}
    below = takewhile(lambda weight: id(weight) not in factors, network.base_model.parameters())
    return factors | {id(weight): decay**number for weight in list(below)}


def set_rates(optimizer: torch.optim.Optimizer, factors: Mapping[int, float]) -> None:
    """Divide the groups of an optimiser that has done no step yet by the rates of their weights."""
    groups = []
    for group in optimizer.param_groups:
        rates = [factors.get(id(weight), 1.0) for weight in group["params"]]
        for factor in sorted(set(rates)):
            weights = [weight for weight, rate in zip(group["params"], rates, strict=True) if rate == factor]
            groups.append({**group, "params": weights, "lr": group["lr"] * factor})
    optimizer.param_groups[:] = groups
