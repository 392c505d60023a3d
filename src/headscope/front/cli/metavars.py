"""Names of options, and words for their values in `--help`: none for a flag, the choices of a choice, N, or a noun."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from typer.core import TyperArgument, TyperOption
from typer.models import OptionInfo

Command = TypeVar("Command", bound=Callable[..., Any])
WORDS = {bool: "", int: "N", float: "X", Path: "PATH"}

for parameter_kind in (TyperArgument, TyperOption):  # no setting of Typer hides its types, such as <list[str]>
    parameter_kind.display_type = lambda self, ctx: ""  # type: ignore[method-assign]


def flag(name: str) -> str:
    """The option of an argument.

    >>> flag("per_condition"), flag("from_")
    ('--per-condition', '--from')
    """
    return "--" + name.strip("_").replace("_", "-")


def with_metavars(command: Command) -> Command:
    """Give each option of a command that has no metavar one for its type and its name."""
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *described = get_args(parameter.annotation) or (None,)  # none for the context of the command
        for each in described:
            if isinstance(each, OptionInfo) and each.metavar is None:
                each.metavar = metavar(kind, parameter.name)
    return command


def metavar(kind: Any, name: str) -> str:
    """The word for a value of a type; of a text the name of the option.

    >>> metavar(bool, "mix"), metavar(int | None, "limit"), metavar(list[str], "tasks_"), metavar(Literal["a", "b"], "")
    ('', 'N', 'TASKS', 'a | b')
    """
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    if get_origin(kind) in (Union, UnionType, list):
        return next(metavar(each, name) for each in get_args(kind) if each is not NoneType)
    return WORDS.get(kind, name.strip("_").upper())
