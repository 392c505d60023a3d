"""The ways to fine-tune of a table, with their learning rates."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError, plain_name
from headscope.ranges import Range
from headscope.training import TrainingRecipe
from headscope.training.ways import refuse_unknown

# Kovaleva et al. 2019, Table 1, and the encoder frozen.
TABLE = ("pretrained", "random", "frozen", "finetuned")


@dataclass(frozen=True, kw_only=True)
class ChosenWays:
    """The ways to fine-tune of a table, and what some of them have of their own.

    * `table`: Train with all four inits, as in Table 1 of Kovaleva et al. 2019.
    * `init`: Start from finetuned (pre-trained weights), random, frozen (train the classifier alone) or
      pretrained (train nothing).
    * `ways`: Train in these ways instead, separated by commas: those of `init`, last_layers, mix (a trained mix of all
      layers), adapters, lora, two_stages, adapted (to the text of the task first), perturbed, stacked, centred ([CLS]).
    * `way_rate`: Set the learning rate of a way, as lora=1e-3.
    * `frozen_rate`: Set the learning rate of the init frozen (default: `learning_rate`).
    * `first_task`: Train on this one of the tasks in the first stage of the way two_stages; it is not scored.
    * `top_layers`: Train this number of layers, the last, in the way last_layers.
    * `rank`: Set the rank of lora, and the width of adapters.
    """

    table: bool = False
    init: Literal["finetuned", "pretrained", "random", "frozen"] = "finetuned"
    ways: str | None = None
    way_rate: list[str] | None = None
    frozen_rate: Annotated[float, Range(0, 10)] | None = None
    first_task: str | None = None
    top_layers: Annotated[int, Range(1, 1000)] = 2
    rank: Annotated[int, Range(1, 1024)] = 8

    def names(self) -> tuple[str, ...]:
        """The ways of a list such as "finetuned,lora"; without one those of the table, or the init alone.

        Raises `HeadscopeError` for an unknown way.

        >>> ChosenWays(ways="lora, frozen").names(), ChosenWays(init="random").names()
        (('lora', 'frozen'), ('random',))
        """
        if self.ways is None:
            return TABLE if self.table else (self.init,)
        named = tuple(dict.fromkeys(refuse_unknown(name.strip()) for name in self.ways.split(",")))
        return tuple(dict.fromkeys((*TABLE, *named))) if self.table else named

    def recipes(self, recipe: TrainingRecipe) -> dict[str, TrainingRecipe]:
        """The recipe of each way, with its own learning rate.

        Raises `HeadscopeError` for a rate that is no number, or of a way that is not trained.
        """
        ways = self.names()
        given = {"frozen": self.frozen_rate} if self.frozen_rate else {}
        for text in self.way_rate or []:
            way, _, number = text.partition("=")
            try:
                rate = float(number)
            except ValueError:
                rate = 0.0
            if way not in ways or not 0 < rate < 1:
                raise HeadscopeError(
                    f"way rate '{text}' is not WAY=RATE with WAY one of {', '.join(ways)}; use lora=1e-3"
                )
            given[way] = rate
        return {way: replace(recipe, learning_rate=given.get(way, recipe.learning_rate)) for way in ways}


def refuse_other_ways(tasks: tuple[Task, ...], ways: tuple[str, ...]) -> None:
    """Raise `HeadscopeError` for a task of words beside one of labels, or in a way that trains a classifier."""
    words = [task.name for task in tasks if task.kind == "words"]
    if words and len(words) < len(tasks):
        raise HeadscopeError(f"task '{words[0]}' trains a head for words, other tasks classifiers; name it by itself")
    headed = [task.name for task in tasks if task.kind in ("words", "span")]
    if headed and (others := [way for way in ways if way not in TABLE]):
        raise HeadscopeError(f"task '{headed[0]}': way '{others[0]}' trains a classifier; use {', '.join(TABLE)}")
    choices = [task.name for task in tasks if task.kind == "choice"]
    if choices and "perturbed" in ways:
        raise HeadscopeError(f"task '{choices[0]}': way 'perturbed' reads the loss of classes; leave it out")


def without_first(tasks: tuple[Task, ...], first: str | None) -> tuple[tuple[Task, ...], Task | None]:
    """The tasks but the first stage's, and that.

    Raises `HeadscopeError` if it is not among the tasks, or is the only one.
    """
    if first is None:
        return tasks, None
    named = [task for task in tasks if plain_name(task.name) == plain_name(first)]
    if not named or len(tasks) == 1:
        names = ", ".join(task.name for task in tasks)
        raise HeadscopeError(f"first task '{first}': name it and another one by --task; the tasks are {names}")
    return tuple(task for task in tasks if task is not named[0]), named[0]
