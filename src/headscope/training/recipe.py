"""Hyperparameters of a training, and the learning rates of layers that follow from them.

Smaller rates below keep what lower layers know (Howard and Ruder 2018, section 3.2); smaller rates above test whether
the last layers change most only because they move furthest.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Literal, get_args

import torch
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.layer_weights import modules_by_layer

Init = Literal["finetuned", "pretrained", "random", "frozen"]
Precision = Literal["no", "bf16", "fp16"]
Keep = Literal["best", "last"]


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """Hyperparameters of a training; defaults as in Kovaleva et al. 2019 and BERT's released code.

    * `batch`: examples in a step.
    * `epochs`: passes over the training examples.
    * `learning_rate`: peak of the learning rate, which then falls linearly to 0.
    * `warmup`: fraction of the steps before the peak.
    * `weight_decay`: of AdamW; gradients are clipped to a norm of 1.
    * `precision`: "no" (float32), or mixed with "bf16" or "fp16".
    * `max_tokens`: longer inputs are shortened to this length.
    * `keep`: the model of the "best" epoch by the main metric on dev, or of the "last".
    * `layer_rate_decay`: factor of the rate of each layer by that of the layer above, up to 1; below 1, lower layers
      learn more slowly. `layer_rate_growth`: by that of the layer below; below 1, upper layers do.

    Raises `HeadscopeError` for a value outside its range.
    """

    batch: int = 32
    epochs: int = 3
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    precision: Precision = "no"
    max_tokens: int = 128
    keep: Keep = "best"
    layer_rate_decay: float = 1.0
    layer_rate_growth: float = 1.0

    def __post_init__(self) -> None:
        for name, kind in {"precision": Precision, "keep": Keep}.items():
            if getattr(self, name) not in get_args(kind):
                raise HeadscopeError(
                    f"{name} '{getattr(self, name)}' is unknown; use one of {', '.join(get_args(kind))}"
                )
        for name, least in {"batch": 1, "epochs": 1, "max_tokens": 8, "weight_decay": 0}.items():
            if not getattr(self, name) >= least:
                raise HeadscopeError(f"{name} {getattr(self, name)} is too small; use at least {least}")
        for name in ("layer_rate_decay", "layer_rate_growth"):
            if not 0 < getattr(self, name) <= 1:
                raise HeadscopeError(f"{name} {getattr(self, name)} is out of range; use 0 < {name} <= 1, e.g. 0.9")
        if not 0 < self.learning_rate < 1:
            raise HeadscopeError(
                f"learning_rate {self.learning_rate} is out of range; use 0 < learning_rate < 1, e.g. 2e-5"
            )
        if not 0 <= self.warmup < 1:
            raise HeadscopeError(f"warmup {self.warmup} is not a fraction of the steps; use 0 <= warmup < 1, e.g. 0.1")

    def as_settings(self) -> dict[str, str | int | float]:
        """The hyperparameters as stored with a result; without rates of layers where all have one."""
        settings = asdict(self)
        return {name: value for name, value in settings.items() if not (name.startswith("layer_rate") and value == 1)}


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
