"""Types of arguments, made from the code of their annotations: nothing is evaluated or imported."""

import ast
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal

from headscope.ranges import Range

PLAIN = {"bool": bool, "int": int, "float": float, "str": str, "Path": Path, "None": None}


def read(node: ast.expr) -> tuple[Any, Range | None]:
    """The plain type of an annotation, and the range of its numbers if it has one.

    Raises `TypeError` for an annotation that is none of an option.

    >>> read(ast.parse("Annotated[int, Range(1, 3)] | None", mode="eval").body)
    (int | None, Range(least=1, most=3))
    """
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            kinds, ranges = zip(read(left), read(right), strict=True)
            return reduce(or_, kinds), next((bounds for bounds in ranges if bounds), None)
        case ast.Subscript(value=ast.Name("Annotated"), slice=ast.Tuple([kind, bounds])):
            return read(kind)[0], _range(bounds)
        case ast.Subscript(value=ast.Name("Literal")):
            return Literal[ast.literal_eval(node.slice)], None
        case ast.Subscript(value=ast.Name("list")):
            return list[read(node.slice)[0]], None
        case ast.Name() | ast.Constant(None) if (name := ast.unparse(node)) in PLAIN:
            return PLAIN[name], None
    raise TypeError(f"'{ast.unparse(node)}' is no type of an option; use {', '.join(PLAIN)}, list[...] or Literal[...]")


def _range(node: ast.expr) -> Range:
    """The range that a call such as `Range(1)` or `Range(0, most=1)` makes."""
    match node:
        case ast.Call(func=ast.Name("Range"), args=args, keywords=keywords):
            named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg}
            return Range(*map(ast.literal_eval, args), **named)
    raise TypeError(f"'{ast.unparse(node)}' is no range; use Range(LEAST) or Range(LEAST, MOST)")
