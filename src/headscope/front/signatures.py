"""Signatures of studies and their verbs, read from their source: nothing is imported until a function is called.

An argument is an input if its annotation is in `INPUT_TYPES`, else an option. The type of an option is a plain Python
type: `bool`, `int`, `float`, `str`, `Path`, `list[str]`, a `Literal`, one of these `| None`, or a number `Annotated`
with its `Range`. Its line in the docstring is its help.
"""

import ast
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Any

from headscope import catalog
from headscope.front import annotations
from headscope.front.inputs import INPUT_TYPES
from headscope.ranges import Range

PACKAGE = Path(__file__).parents[1]
LINE = re.compile(r"^\* `(\w+)`: (.+?)$(?=\n[^ ]|\n*\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """An argument of a function that is given as it is.

    * `kind`: its plain type; `bounds`: the range of a number.
    * `default`: `Parameter.empty` if there is none.
    * `help`: its line in the docstring.
    """

    kind: Any
    bounds: Range | None
    default: Any
    help: str


@dataclass(frozen=True)
class Function:
    """A study or a verb.

    * `summary`: the first line of its docstring.
    * `inputs`: the arguments that are made, and the type of each in `INPUT_TYPES`.
    * `options`: the other arguments.
    """

    module: str
    name: str
    summary: str
    inputs: Mapping[str, str]
    options: Mapping[str, Argument]

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
    inputs, options = dict[str, str](), dict[str, Argument]()
    for argument, default in zip([*given.args, *given.kwonlyargs], defaults, strict=True):
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        if kind in INPUT_TYPES:
            inputs[argument.arg] = kind
        else:
            options[argument.arg] = _argument(f"{module}.{part.name}", argument, default, helps.get(argument.arg, ""))
    return Function(module, part.name, docstring.partition("\n")[0], inputs, options)


def _argument(function: str, argument: ast.arg, default: ast.expr | None, help: str) -> Argument:
    try:
        kind, bounds = annotations.read(argument.annotation or ast.Name(argument.arg))
    except TypeError as error:
        raise TypeError(f"{function}: argument '{argument.arg}': {error}") from None
    return Argument(kind, bounds, Parameter.empty if default is None else ast.literal_eval(default), help)
