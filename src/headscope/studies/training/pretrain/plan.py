"""What is trained and how: ways, seeds, shape, and the recipe."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from headscope.errors import HeadscopeError
from headscope.ranges import Range
from headscope.studies.training.pretrain.ways import named
from headscope.training import TrainingRecipe

SHAPE = re.compile(r"(\d{1,3})x(\d{1,3})x(\d{1,4})")


@dataclass(frozen=True)
class Shape:
    """The numbers of layers and of heads in each, and the width of the hidden states."""

    layers: int
    heads: int
    width: int

    def __str__(self) -> str:
        return f"{self.layers}x{self.heads}x{self.width}"


@dataclass(frozen=True, kw_only=True)
class PretrainingPlan:
    """Which models are trained.

    * `ways`: Train in these ways, separated by commas: tokens, static, words, spans, next-sentence, sentence-order,
      next-word.
    * `seeds`: Train with this number of seeds in each way, from `--seed` on: of weights, masks and order.
    * `shape`: Train models of this shape: layers x heads x width.
    * `held_out`: Hold out documents spread over the text, this fraction of it, and score on them.
    * `pieces`: Cut the text into this number of pieces, its most frequent ones; rarer words are made of several.
    * `shuffle`: Train on the pieces of the text in random order, of which only frequencies can be learned.
    """

    ways: str = "tokens,words"
    seeds: Annotated[int, Range(1, 100)] = 2
    shape: str = "4x4x128"
    held_out: Annotated[float, Range(0, 1)] = 0.1
    pieces: Annotated[int, Range(1, 1_000_000)] = 2000
    shuffle: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the ways. Raises `HeadscopeError` for one that is unknown."""
        return named(self.ways)

    @property
    def sizes(self) -> Shape:
        """The shape.

        Raises `HeadscopeError` for one that is none, or whose heads do not share the width evenly.

        >>> PretrainingPlan(shape="2x4x64").sizes
        Shape(layers=2, heads=4, width=64)
        """
        if not (match := SHAPE.fullmatch(self.shape)) or "0" in match.groups():
            raise HeadscopeError(f"shape '{self.shape}' is not LAYERSxHEADSxWIDTH; use e.g. 4x4x128")
        shape = Shape(*map(int, match.groups()))
        if shape.width % shape.heads:
            nearest = max(1, round(shape.width / shape.heads)) * shape.heads
            raise HeadscopeError(
                f"shape '{self.shape}': a width of {shape.width} is not divisible by {shape.heads} heads; use e.g. "
                f"{Shape(shape.layers, shape.heads, nearest)}"
            )
        return shape


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How each model is trained; the learning rate rises for a tenth of the steps, then falls linearly to 0.

    * `batch`: Train on this number of inputs in a step.
    * `epochs`: Train for this number of passes over the text.
    * `learning_rate`: Set the peak of the learning rate.
    * `precision`: Train in mixed precision: no, bf16 or fp16.
    * `max_tokens`: Cut the text into inputs of this number of tokens.
    """

    batch: Annotated[int, Range(1, 1024)] = 16
    epochs: Annotated[int, Range(1, 1000)] = 4
    learning_rate: Annotated[float, Range(0, 10)] = 2e-3
    precision: Literal["no", "bf16", "fp16"] = "no"
    max_tokens: Annotated[int, Range(16, 4096)] = 64

    @property
    def recipe(self) -> TrainingRecipe:
        """The hyperparameters, with the weights of the last epoch kept."""
        return TrainingRecipe(**vars(self), warmup=0.1, weight_decay=0.01, keep="last")
