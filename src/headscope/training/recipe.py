"""Hyperparameters of a training, and the learning rates of layers that follow from them.

Smaller rates below keep what lower layers know (Howard and Ruder 2018, section 3.2); smaller rates above test whether
the last layers change most only because they move furthest.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Annotated, Literal

import torch
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.layer_weights import modules_by_layer
from headscope.ranges import Range

Init = Literal["finetuned", "pretrained", "random", "frozen"]


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """Hyperparameters of a training; defaults as in Kovaleva et al. 2019 and BERT's released code.

    After its peak the learning rate falls linearly to 0. Gradients are clipped to a norm of 1.

    * `batch`: Train on this number of examples in a step.
    * `epochs`: Train for this number of passes over the training examples.
    * `learning_rate`: Set the peak of the learning rate.
    * `warmup`: Raise the learning rate during this fraction of the steps.
    * `weight_decay`: Set the weight decay of AdamW.
    * `precision`: Train in mixed precision: no, bf16 or fp16.
    * `max_tokens`: Shorten longer inputs to this number of tokens.
    * `keep`: Keep the model of the best epoch on dev, or of the last.
    * `layer_rate_decay`: Multiply the learning rate by this for each layer further below: lower layers learn more
      slowly.
    * `layer_rate_growth`: Multiply the learning rate by this for each layer further above: upper layers learn more
      slowly, but not the classifier.

    Raises `HeadscopeError` for a value outside its range.
    """

    batch: Annotated[int, Range(1, 1024)] = 32
    epochs: Annotated[int, Range(1, 1000)] = 3
    learning_rate: Annotated[float, Range(0, 10)] = 2e-5
    warmup: Annotated[float, Range(0, 1)] = 0.1
    weight_decay: Annotated[float, Range(0, 10)] = 0.01
    precision: Literal["no", "bf16", "fp16"] = "no"
    max_tokens: Annotated[int, Range(1, 1_000_000)] = 128
    keep: Literal["best", "last"] = "best"
    layer_rate_decay: Annotated[float, Range(0, 1)] = 1.0
    layer_rate_growth: Annotated[float, Range(0, 1)] = 1.0

    def __post_init__(self) -> None:
        for name, choices in {"precision": ("no", "bf16", "fp16"), "keep": ("best", "last")}.items():
            if getattr(self, name) not in choices:
                raise HeadscopeError(f"{name} '{getattr(self, name)}' is unknown; use one of {', '.join(choices)}")
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
    """The factor of each weight's learning rate, by its `id`; empty where all have the same rate.

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
