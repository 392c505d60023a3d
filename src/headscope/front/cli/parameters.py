"""Arguments of a function as parameters of its command."""

import re
from collections.abc import Iterable
from inspect import Parameter
from math import isfinite
from typing import Annotated, Any

import typer

from headscope.front.cli.metavars import flag
from headscope.front.signatures import Argument, Function


def parameters(function: Function) -> dict[str, Parameter]:
    """The options of a function; an argument without a default is a positional one of the command."""
    panel = "Study" if function.name == "run" else None
    return {
        name: _parameter(name, argument, _in_flags(argument.help, function.options), panel)
        for name, argument in function.options.items()
    }


def _in_flags(help: str, names: Iterable[str]) -> str:
    """The help of an option, with the names of other options as a user writes them.

    >>> _in_flags("Default: `learning_rate`; see `ablate`.", ["learning_rate"])
    'Default: --learning-rate; see ablate.'
    """
    return re.sub("`([^`]*)`", lambda name: flag(name[1]) if name[1] in names else name[1], help)


def _parameter(name: str, argument: Argument, help: str, panel: str | None) -> Parameter:
    written, bounds = flag(name), argument.bounds
    if argument.default is Parameter.empty:
        described = typer.Argument(metavar=name.upper(), help=help)
    else:
        limits: dict[str, Any] = {"min": bounds.least, "max": bounds.most} if bounds else {}
        written = f"{written}/--no-{written[2:]}" if argument.default is True else written
        described = typer.Option(written, help=help, rich_help_panel=panel, callback=_finite, **limits)
    hint = Annotated[argument.kind, described]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=argument.default, annotation=hint)


def _finite(value: Any) -> Any:
    """The value of an option; an infinite number is refused."""
    if isinstance(value, float) and not isfinite(value):
        raise typer.BadParameter(f"'{value}' is no finite number")
    return value
