"""Hyperparameters of a training."""

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from headscope.errors import HeadscopeError

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
