"""The functions that commands call, read from their source: nothing is imported until a function is called.

The type of an argument is a plain Python type: `bool`, `int`, `float`, `str`, `Path`, `list[str]`, a `Literal`, one of
these `| None`, or a number `Annotated` with its `Range`. Its line in the docstring is its help.
"""

import ast
import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from headscope import catalog
from headscope.front import annotations
from headscope.front.cli.inputs import INPUTS
from headscope.front.cli.metavars import flag

PACKAGE = Path(__file__).parents[2]
LINE = re.compile(r"^\* `(\w+)`: (.+?)$(?=\n[^ ]|\n*\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Function:
    """A function that a command calls.

    * `summary`: the first line of its docstring.
    * `inputs`: the arguments in `headscope.front.cli.inputs.INPUTS`, and whether each may be left out.
    * `options`: the other arguments, as parameters of a command.
    """

    module: str
    name: str
    summary: str
    inputs: Mapping[str, bool]
    options: Mapping[str, Parameter]

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        return getattr(importlib.import_module(self.module), self.name)


def read(study: str, file: str, name: str) -> Function:
    """A function of a file of a study, for instance `run` of `study`.

    >>> list(read("syntax", "study", "run").options)
    ['subtypes', 'as_coded']
    """
    return _function(f"headscope.studies.{study}.{file}", _definitions(_path(study, file))[name])


def read_from(place: str, name: str) -> Function:
    """A function of any file of the package.

    >>> list(read_from("viewer/commands", "index").options)
    ['per_head']
    """
    return _function(f"headscope.{place.replace('/', '.')}", _definitions(PACKAGE / f"{place}.py")[name])


def names(study: str, file: str) -> list[str]:
    """The public functions of a file of a study; none if there is no such file.

    >>> names("patterns", "commands")
    ['train', 'evaluate', 'label', 'agreement']
    """
    return [name for name in _definitions(_path(study, file)) if not name.startswith("_")]


def documented(docstring: str) -> dict[str, str]:
    """The help of each argument: its line in a list of the docstring; of two lines of one name the last.

    >>> documented('''Do it.
    ...
    ... * `seed`: Seed of everything
    ...   random.
    ... ''')
    {'seed': 'Seed of everything random.'}
    """
    return {name: " ".join(text.split()) for name, text in LINE.findall(docstring)}


def _path(study: str, file: str) -> Path:
    return catalog.ROOT / "studies" / study / f"{file}.py"


def _definitions(path: Path) -> dict[str, ast.FunctionDef]:
    parts = catalog.parsed(path).body if path.is_file() else []
    return {part.name: part for part in parts if isinstance(part, ast.FunctionDef)}


def _function(module: str, part: ast.FunctionDef) -> Function:
    docstring = ast.get_docstring(part) or ""
    helps, given = documented(docstring), part.args
    positional: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    defaults = [*positional, *given.defaults, *given.kw_defaults]
    inputs, options = {}, {}
    for argument, default in zip([*given.args, *given.kwonlyargs], defaults, strict=True):
        if argument.arg in INPUTS:
            inputs[argument.arg] = default is not None and ast.unparse(default) == "None"
        else:
            help = _in_flags(helps.get(argument.arg, ""), helps)
            options[argument.arg] = _parameter(argument, default, help, "Study" if part.name == "run" else None)
    return Function(module, part.name, docstring.partition("\n")[0], inputs, options)


def _in_flags(help: str, names: Iterable[str]) -> str:
    """The help of an option, with the names of other options as a user writes them.

    >>> _in_flags("Default: `learning_rate`; see `ablate`.", ["learning_rate"])
    'Default: --learning-rate; see ablate.'
    """
    return re.sub("`([^`]*)`", lambda name: flag(name[1]) if name[1] in names else name[1], help)


def _parameter(argument: ast.arg, default: ast.expr | None, help: str, panel: str | None) -> Parameter:
    """An argument as a parameter of a command: an option, or without a default a positional argument."""
    assert argument.annotation is not None
    kind, bounds = annotations.read(argument.annotation)
    written = flag(argument.arg)
    limits: dict[str, Any] = {"min": bounds.least, "max": bounds.most} if bounds else {}
    if default is None:
        described, value = typer.Argument(metavar=argument.arg.upper(), help=help), Parameter.empty
    else:
        value = ast.literal_eval(default)
        written = f"{written}/--no-{written[2:]}" if value is True else written
        described = typer.Option(written, help=help, rich_help_panel=panel, callback=_finite, **limits)
    hint = Annotated[kind, described]
    return Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=value, annotation=hint)


def _finite(value: Any) -> Any:
    """The value of an option; an infinite number is refused."""
    if isinstance(value, float) and not isfinite(value):
        raise typer.BadParameter(f"'{value}' is no finite number")
    return value
