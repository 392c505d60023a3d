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
from functools import reduce
from inspect import Parameter
from operator import or_
from pathlib import Path
from typing import Any, Literal

from headscope import catalog
from headscope.front.inputs import INPUT_TYPES
from headscope.ranges import Range

PLAIN = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path, "None": None}
PACKAGE = Path(__file__).parents[1]
LINE = re.compile(r"^\* `(\w+)`: (.+?)$(?=\n[^ ]|\n*\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """An argument that is given as it is: its plain type, its line in the docstring, the range of a number."""

    kind: Any
    bounds: Range | None
    default: Any
    help: str


@dataclass(frozen=True)
class Function:
    """A study or a verb: the arguments that are made, with their types in `INPUT_TYPES`, and its options."""

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
    return _function(catalog.module_of(_path(study, file)), _definitions(_path(study, file))[name])


def read_from(file: str, name: str) -> Function:
    """A function of any file of the package.

    >>> list(read_from("viewer/commands", "index").options)
    ['per_head']
    """
    return _function(f"headscope.{file.replace('/', '.')}", _definitions(PACKAGE / f"{file}.py")[name])


def names(study: str, file: str) -> list[str]:
    """The public functions of a file of a study; none if there is no such file.

    >>> names("patterns", "commands")
    ['evaluate']
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
    return catalog.study_folder(study) / f"{file}.py"


def _definitions(path: Path) -> dict[str, ast.FunctionDef]:
    parts = catalog.parsed(path).body if path.is_file() else []
    return {part.name: part for part in parts if isinstance(part, ast.FunctionDef)}


def _function(module: str, part: ast.FunctionDef) -> Function:
    docstring = ast.get_docstring(part) or ""
    helps, arguments = documented(docstring), part.args
    positional: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*positional, *arguments.defaults, *arguments.kw_defaults]
    inputs, options = dict[str, str](), dict[str, Argument]()
    for argument, default in zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True):
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        if kind in INPUT_TYPES:
            inputs[argument.arg] = kind
        else:
            options[argument.arg] = _argument(f"{module}.{part.name}", argument, default, helps.get(argument.arg, ""))
    return Function(module, part.name, docstring.partition("\n")[0], inputs, options)


def _argument(function: str, argument: ast.arg, default: ast.expr | None, help: str) -> Argument:
    try:
        kind, bounds = annotated(argument.annotation or ast.Name(argument.arg))
    except TypeError as error:
        raise TypeError(f"{function}: argument '{argument.arg}': {error}") from None
    return Argument(kind, bounds, Parameter.empty if default is None else ast.literal_eval(default), help)


def annotated(node: ast.expr) -> tuple[Any, Range | None]:
    """The plain type of an annotation, and the range of its numbers if it has one.

    Raises `TypeError` for an annotation that no option has.

    >>> annotated(ast.parse("Annotated[int, Range(1, 3)] | None", mode="eval").body)
    (int | None, Range(least=1, most=3))
    """
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            kinds, ranges = zip(annotated(left), annotated(right), strict=True)
            return reduce(or_, kinds), next((bounds for bounds in ranges if bounds), None)
        case ast.Subscript(value=ast.Name("Annotated"), slice=ast.Tuple([kind, bounds])):
            return annotated(kind)[0], _range(bounds)
        case ast.Subscript(value=ast.Name("Literal")):
            return Literal[ast.literal_eval(node.slice)], None
        case ast.Subscript(value=ast.Name("list")):
            return list[annotated(node.slice)[0]], None
        case ast.Name() | ast.Constant(None) if (name := ast.unparse(node)) in PLAIN:
            return PLAIN[name], None
    raise TypeError(f"'{ast.unparse(node)}' is no type of an option; use {', '.join(PLAIN)}, list[...] or Literal[...]")


def _range(node: ast.expr) -> Range:
    """The range that a call such as `Range(1, 100)` or `Range(0, most=1)` makes."""
    match node:
        case ast.Call(func=ast.Name("Range"), args=args, keywords=keywords):
            named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg}
            return Range(*map(ast.literal_eval, args), **named)
    raise TypeError(f"'{ast.unparse(node)}' is no range; use Range(LEAST, MOST)")
