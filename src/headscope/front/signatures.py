"""Signatures of studies and their verbs, read from their source: nothing is imported until a function is called.

An argument is an input if its annotation is in `INPUT_TYPES`, else an option. The type of an option is a plain Python
type: `bool`, `int`, `float`, `str`, `Path`, `list[str]`, a `Literal`, one of these `| None`, or a number `Annotated`
with its `Range`. Its line in the docstring is its help.

An argument whose type is a dataclass is a group of options: its fields, each with its line in the docstring of the
class.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce, wraps
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
    """A study or a verb: the arguments that are made, with their types in `INPUT_TYPES`, and its options.

    * `groups`: the names of the options of each argument that is a group.
    """

    module: str
    name: str
    summary: str
    inputs: Mapping[str, str]
    options: Mapping[str, Argument]
    groups: Mapping[str, list[str]]

    def load(self) -> Callable[..., Any]:
        """Import the function; each option of a group is an argument of its own."""
        function = getattr(importlib.import_module(self.module), self.name)
        signature = inspect.signature(function)
        kinds = {group: signature.parameters[group].annotation for group in self.groups}

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            for group, kind in kinds.items():
                names = options.keys() & self.groups[group]
                options[group] = kind(**{name: options.pop(name) for name in names})
            return function(*args, **options)

        fields = {group: inspect.signature(kind).parameters.values() for group, kind in kinds.items()}
        flat = [field for name, argument in signature.parameters.items() for field in fields.get(name, [argument])]
        call.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
        return call if kinds else function


def read(study: str, file: str, name: str) -> Function:
    """A function of a file of a study, for instance `run` of `study`.

    >>> list(read("syntax", "study", "run").options)
    ['subtypes', 'as_coded']
    """
    return _function(catalog.module_of(_path(study, file)), catalog.parsed(_path(study, file)), name)


def read_from(file: str, name: str) -> Function:
    """A function of any file of the package.

    >>> list(read_from("viewer/commands", "index").options)
    ['per_head']
    """
    return _function(f"headscope.{file.replace('/', '.')}", catalog.parsed(PACKAGE / f"{file}.py"), name)


def names(study: str, file: str) -> list[str]:
    """The public functions of a file of a study; none if there is no such file.

    >>> names("patterns", "commands")
    ['evaluate']
    """
    path = _path(study, file)
    return [name for name in _definitions(catalog.parsed(path)) if not name.startswith("_")] if path.is_file() else []


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


def _definitions(code: ast.Module) -> dict[str, ast.FunctionDef]:
    return {part.name: part for part in code.body if isinstance(part, ast.FunctionDef)}


def _function(module: str, code: ast.Module, name: str) -> Function:
    part = _definitions(code)[name]
    docstring = ast.get_docstring(part) or ""
    helps, arguments = documented(docstring), part.args
    positional: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*positional, *arguments.defaults, *arguments.kw_defaults]
    inputs, options, groups = dict[str, str](), dict[str, Argument](), dict[str, list[str]]()
    for argument, default in zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True):
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        if kind in INPUT_TYPES:
            inputs[argument.arg] = kind
        elif group := _group(code, kind):
            options, groups[argument.arg] = options | group, [*group]
        else:
            owner = f"{module}.{name}"
            options[argument.arg] = _argument(owner, argument.arg, argument.annotation, default, helps)
    return Function(module, name, docstring.partition("\n")[0], inputs, options, groups)


def _group(code: ast.Module, name: str) -> dict[str, Argument]:
    """The options of a group, whose class is of this code or imported from the package; none of any other name."""
    for part in code.body:
        if isinstance(part, ast.ImportFrom) and name in {imported.name for imported in part.names}:
            file = PACKAGE.parent / f"{str(part.module).replace('.', '/')}.py"
            return _group(catalog.parsed(file), name) if file.is_file() else {}
        if isinstance(part, ast.ClassDef) and part.name == name:
            helps = documented(ast.get_docstring(part) or "")
            fields = [field for field in part.body if isinstance(field, ast.AnnAssign)]
            named = {ast.unparse(field.target): field for field in fields}
            return {key: _argument(name, key, field.annotation, field.value, helps) for key, field in named.items()}
    return {}


def _argument(
    owner: str, name: str, annotation: ast.expr | None, default: ast.expr | None, helps: Mapping[str, str]
) -> Argument:
    try:
        kind, bounds = annotated(annotation or ast.Name(name))
    except TypeError as error:
        raise TypeError(f"{owner}: argument '{name}': {error}") from None
    value = Parameter.empty if default is None else ast.literal_eval(default)
    return Argument(kind, bounds, value, helps.get(name, ""))


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
