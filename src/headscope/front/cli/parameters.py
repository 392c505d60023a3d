"""Parameters of commands: arguments of functions and shared options, as Typer reads them."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperOption
from typer.models import OptionInfo

from headscope.front.cli.options import SHARED, limits, shared
from headscope.front.signatures import Argument, Function

Command = TypeVar("Command", bound=Callable[..., Any])
# Second names of options.
SHORT = {"per_condition": ("--each",)}
# Shared options that are not called as their values.
RENAMED = {"remote_code": "--trust-remote-code", "training_limit": "--train-limit", "tokenizer_of": "--tokenizer"}
WORDS = {bool: "", int: "N", float: "X", Path: "PATH"}

for parameter_kind in (TyperArgument, TyperOption):  # no setting of Typer hides its types, such as <list[str]>
    parameter_kind.display_type = lambda self, ctx: ""  # type: ignore[method-assign]


def with_parameters(command: Command, parameters: Iterable[Parameter]) -> Command:
    """Give a command its parameters, and each option without a metavar one for its type and its name."""
    signature = inspect.Signature(list(parameters))
    for parameter in signature.parameters.values():
        kind, *described = get_args(parameter.annotation) or (None,)  # none for the context of the command
        for option in described:
            if isinstance(option, OptionInfo) and option.metavar is None:
                option.metavar = metavar(kind, parameter.name)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    return command


def with_shared(command: Command) -> Command:
    """A command in which a parameter that is not described is the shared option of its name.

    `**name` stands for all shared options that its annotation lists: `Annotated[Any, ("json", "debug")]`.
    """
    listed = inspect.signature(command, eval_str=True).parameters.values()
    return with_parameters(command, [described for option in listed for described in _described(option)])


def _described(option: Parameter) -> list[Parameter]:
    if option.kind is Parameter.VAR_KEYWORD:
        return [shared(name) for name in get_args(option.annotation)[1]]
    is_own = get_origin(option.annotation) is Annotated or option.name not in SHARED
    return [option if is_own else shared(option.name)]


def parameters(function: Function) -> dict[str, Parameter]:
    """The options of a function; an argument without a default is a positional one of the command."""
    panel = "Study" if function.name == "run" else None
    return {
        name: _parameter(name, argument, _in_flags(argument.help, function.options), panel)
        for name, argument in function.options.items()
    }


def flag(name: str) -> str:
    """The option of an argument.

    >>> flag("per_condition"), flag("from_"), flag("remote_code")
    ('--per-condition', '--from', '--trust-remote-code')
    """
    return RENAMED.get(name) or "--" + name.strip("_").replace("_", "-")


def as_words(values: Mapping[str, Any]) -> list[str]:
    """Options with their values as words of a command line.

    >>> as_words({"seed": 1, "full": True, "figures": False})
    ['--seed', '1', '--full', '--no-figures']
    """
    words = []
    for name, value in values.items():
        words.append(f"--no-{flag(name)[2:]}" if value is False else flag(name))
        words += [] if isinstance(value, bool) else [str(value)]
    return words


def metavar(kind: Any, name: str) -> str:
    """The word for a value of a type: none for a flag, the choices of a choice, N, or the name of the option.

    >>> metavar(bool, "mix"), metavar(int | None, "limit"), metavar(list[str], "tasks"), metavar(Literal["a", "b"], "")
    ('', 'N', 'TASKS', 'a | b')
    """
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    if get_origin(kind) in (Union, UnionType, list):
        return next(metavar(part, name) for part in get_args(kind) if part is not NoneType)
    return WORDS.get(kind, name.strip("_").upper())


def _in_flags(help: str, names: Iterable[str]) -> str:
    """The help of an option, with the names of other options as a user writes them.

    >>> _in_flags("Default: `learning_rate`; see `ablate`.", ["learning_rate"])
    'Default: --learning-rate; see ablate.'
    """
    return re.sub("`([^`]*)`", lambda name: flag(name[1]) if name[1] in names else name[1], help)


def _parameter(name: str, argument: Argument, help: str, panel: str | None) -> Parameter:
    written = flag(name)
    if argument.default is Parameter.empty:
        described = typer.Argument(metavar=name.upper(), help=help)
    else:
        written = f"{written}/--no-{written[2:]}" if argument.default is True else written
        ranged = limits(argument.bounds)
        described = typer.Option(written, *SHORT.get(name, ()), help=help, rich_help_panel=panel, **ranged)
    hint = Annotated[argument.kind, described]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=argument.default, annotation=hint)
