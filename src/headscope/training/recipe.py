"""How a model is trained."""

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from headscope.errors import HeadscopeError

Init = Literal["finetuned", "pretrained", "random", "frozen"]
Precision = Literal["no", "bf16", "fp16"]
Keep = Literal["best", "last"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model is trained: as Kovaleva et al. 2019 and BERT's own code do it, unless chosen otherwise.

    * `batch`: examples of a step; `epochs`: passes over the training examples.
    * `learning_rate`: its peak, after a share `warmup` of the steps; from there it falls to 0 in a line.
    * `weight_decay`: of AdamW; gradients are cut to a norm of 1.
    * `precision`: "no" (float32), or mixed with "bf16" or "fp16".
    * `max_tokens`: longer inputs are cut.
    * `keep`: the model of the "best" epoch by the main metric on dev, or of the "last".

    Raises `HeadscopeError` for a value that makes no sense.
    """

    batch: int = 32
    epochs: int = 3
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    precision: Precision = "no"
    max_tokens: int = 128
    keep: Keep = "best"

    def __post_init__(self) -> None:
        for name, kind in {"precision": Precision, "keep": Keep}.items():
            if getattr(self, name) not in get_args(kind):
                raise HeadscopeError(
                    f"{name} '{getattr(self, name)}' is unknown; use one of {', '.join(get_args(kind))}"
                )
        for name, least in {"batch": 1, "epochs": 1, "max_tokens": 8, "weight_decay": 0}.items():
            if not getattr(self, name) >= least:
                raise HeadscopeError(f"{name} {getattr(self, name)} is too small; use at least {least}")
        if not 0 < self.learning_rate < 1:
            raise HeadscopeError(f"learning_rate {self.learning_rate} makes no sense; use one above 0, such as 2e-5")
        if not 0 <= self.warmup < 1:
            raise HeadscopeError(
                f"warmup {self.warmup} is no share of the steps; use one from 0 to below 1, such as 0.1"
            )

    def as_settings(self) -> dict[str, str | int | float]:
        """The recipe as it is stored with a result."""
        return asdict(self)
