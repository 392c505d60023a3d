"""What is trained and how: ways, seeds, shape, and the recipe."""

import re
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal

from headscope.errors import HeadscopeError
from headscope.ranges import Range
from headscope.studies.training.pretrain.shapes import Shape, refuse_odd, shape_of
from headscope.studies.training.pretrain.stages import named
from headscope.training import TrainingRecipe
from headscope.training.steps import spaced


@dataclass(frozen=True)
class PlannedModel:
    """A way, a shape, and the share of the text; `label`: its name, with what differs between the planned models.

    * `masked`: fraction of the tokens that are masked in training.
    * `stacked`: whether its lower half is trained first, and copied on top.
    """

    label: str
    way: str
    shape: Shape
    share: float = 1.0
    masked: float = 0.4
    stacked: bool = False


@dataclass(frozen=True, kw_only=True)
class PretrainingPlan:
    """Which models are trained.

    * `ways`: Train in these ways, separated by commas: tokens, static, words, spans, phrases, entities, unk,
      next-sentence, sentence-order, previous-and-next, permutation, labels, next-word. They may follow
      each other (tokens-then-words), and stand beside each other (tokens+words).
    * `seeds`: Train with this number of seeds in each way, from `--seed` on: of weights, masks and order.
    * `shapes`: Train models of these shapes, separated by commas: layers x heads x width.
    * `amount`: Train on these parts of the text, separated by commas, for the same number of steps.
    * `masked`: Mask this fraction of the tokens in training; BERT has 0.15 (Wettig et al. 2022 compare both).
    * `held_out`: Hold out documents spread over the text, this fraction of it, and score on them.
    * `pieces`: Cut the text into this number of pieces, its most frequent ones; rarer words are made of several.
    * `keep_steps`: Keep the weights after this number of steps, evenly spaced, or `log`: after steps 1, 2, 4, 8 and
      so on; of each way with its first seed, for `film` and `view --steps`.
    * `stacked`: Train each model a second time, half of its layers for half of the steps, then a copy of them on top.
    * `shuffle`: Train on the pieces of the text in random order, of which only frequencies can be learned.
    """

    ways: str = "tokens,words"
    seeds: Annotated[int, Range(1, 100)] = 2
    shapes: str = "2x4x64"
    amount: str = "100%"
    masked: Annotated[float, Range(0, 1)] = 0.4
    held_out: Annotated[float, Range(0, 1)] = 0.1
    pieces: Annotated[int, Range(1, 1_000_000)] = 2000
    keep_steps: str | None = None
    stacked: bool = False
    shuffle: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the ways. Raises `HeadscopeError` for one that is unknown."""
        return named(self.ways)

    @property
    def models(self) -> list[PlannedModel]:
        """The planned models: each way with each shape on each part of the text.

        Raises `HeadscopeError` for a way, a shape, a part or steps that are none, or an odd number of layers to stack.

        >>> [model.label for model in PretrainingPlan(ways="tokens", shapes="2x4x64, 4x2x64, 2x4x64").models]
        ['tokens 2x4x64', 'tokens 4x2x64']
        """
        shapes, shares = (dict.fromkeys(map(str.strip, names.split(","))) for names in (self.shapes, self.amount))
        for shape in shapes if self.stacked else ():
            refuse_odd(shape_of(shape))
        if self.keep_steps is not None:
            spaced(self.keep_steps, 1)
        return [
            PlannedModel(
                " ".join(
                    filter(None, (way, shape * (len(shapes) > 1), share * (len(shares) > 1), "stacked" * stacked))
                ),
                *(way, shape_of(shape), share_of(share), self.masked, stacked),
            )
            for way, shape, share in product(self.names, shapes, shares)
            for stacked in (False, True)[: 1 + self.stacked]
        ]


def share_of(name: str) -> float:
    """A part of the text such as 10%.

    Raises `HeadscopeError` for one that is none.

    >>> share_of("10%")
    0.1
    """
    number = float(name[:-1]) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?%", name) else 0.0
    if not 0 < number <= 100:
        raise HeadscopeError(f"amount '{name}' is no part of the text; use e.g. 10%,100%")
    return number / 100


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How each model is trained; the learning rate rises for a tenth of the steps, then falls linearly to 0.

    * `batch`: Train on this number of inputs in a step.
    * `epochs`: Train for this number of passes over the text.
    * `learning_rate`: Set the peak of the learning rate.
    * `precision`: Train in mixed precision: no, bf16 or fp16.
    * `max_tokens`: Cut the text into inputs of this number of tokens.
    """

    batch: Annotated[int, Range(1, 1024)] = 32
    epochs: Annotated[int, Range(1, 1000)] = 5
    learning_rate: Annotated[float, Range(0, 10)] = 4e-3
    precision: Literal["no", "bf16", "fp16"] = "no"
    max_tokens: Annotated[int, Range(16, 4096)] = 32

    @property
    def recipe(self) -> TrainingRecipe:
        """The hyperparameters, with the weights of the last epoch kept."""
        return TrainingRecipe(**vars(self), warmup=0.1, weight_decay=0.01, keep="last")
