"""The ways to fine-tune of a table, with their learning rates."""

from dataclasses import replace

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError, plain_name
from headscope.training import TrainingRecipe
from headscope.training.ways import refuse_unknown

# Kovaleva et al. 2019, Table 1, and the encoder frozen.
TABLE = ("pretrained", "random", "frozen", "finetuned")


def names(text: str | None, init: str, table: bool) -> tuple[str, ...]:
    """The ways of a list such as "finetuned,lora"; without one those of the table, or the init alone.

    Raises `HeadscopeError` for an unknown way.

    >>> names("lora, frozen", "finetuned", False), names(None, "random", False)
    (('lora', 'frozen'), ('random',))
    """
    if text is None:
        return TABLE if table else (init,)
    named = tuple(dict.fromkeys(refuse_unknown(name.strip()) for name in text.split(",")))
    return tuple(dict.fromkeys((*TABLE, *named))) if table else named


def refuse_other_ways(tasks: tuple[Task, ...], ways: tuple[str, ...]) -> None:
    """Raise `HeadscopeError` for a task of words beside one of labels, or in a way that trains a classifier."""
    words = [task.name for task in tasks if task.kind == "words"]
    if words and len(words) < len(tasks):
        raise HeadscopeError(f"task '{words[0]}' trains a head for words, other tasks classifiers; name it by itself")
    if words and (others := [way for way in ways if way not in TABLE]):
        raise HeadscopeError(f"task '{words[0]}': way '{others[0]}' trains a classifier; use {', '.join(TABLE)}")


def recipes(
    recipe: TrainingRecipe, ways: tuple[str, ...], frozen_rate: float | None, rates: list[str]
) -> dict[str, TrainingRecipe]:
    """The recipe of each way, with its own learning rate; `rates` are as "lora=1e-3".

    Raises `HeadscopeError` for a rate that is no number, or of a way that is not trained.
    """
    given = {"frozen": frozen_rate} if frozen_rate else {}
    for text in rates:
        way, _, number = text.partition("=")
        try:
            rate = float(number)
        except ValueError:
            rate = 0.0
        if way not in ways or not 0 < rate < 1:
            raise HeadscopeError(f"way rate '{text}' is not WAY=RATE with WAY one of {', '.join(ways)}; use lora=1e-3")
        given[way] = rate
    return {way: replace(recipe, learning_rate=given.get(way, recipe.learning_rate)) for way in ways}


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
