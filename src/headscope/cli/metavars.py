"""Words for the values of options in `--help`: none for a flag, all choices of a choice, N for a number."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from typer.models import OptionInfo

Command = TypeVar("Command", bound=Callable[..., Any])
WORDS = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}


def with_metavars(command: Command) -> Command:
    """Give each option of a command that has no metavar one for its type; Typer's own are Python types."""
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *described = get_args(parameter.annotation) or (None,)  # none for the context of the command
        for each in described:
            if isinstance(each, OptionInfo) and each.metavar is None:
                each.metavar = metavar(kind)
    return command


def metavar(kind: Any) -> str | None:
    """The word for a value of a type; None for a type that has none.

    >>> metavar(bool), metavar(int | None), metavar(list[str]), metavar(Literal["csv", "onnx"])
    ('', 'N', 'TEXT', 'csv | onnx')
    """
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    if get_origin(kind) in (Union, UnionType, list):
        return next((metavar(each) for each in get_args(kind) if each is not NoneType), None)
    return WORDS.get(kind)
