"""The names of what the files of the project define."""

import ast
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# The name of a definition, and what it is of; an alias has a name if it is another one.
KINDS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.ClassDef: ("name", "class"),
    ast.FunctionDef: ("name", "function"),
    ast.AsyncFunctionDef: ("name", "function"),
    ast.arg: ("arg", "variable"),
    ast.alias: ("asname", "variable"),
    ast.Name: ("id", "variable"),
}


@cache
def definitions(path: Path) -> Mapping[str, list[str]]:
    """The names of each "class", "function" and "variable" of a file, arguments and aliases among them."""
    found = defaultdict[str, list[str]](list)
    for node in ast.walk(ast.parse(path.read_bytes())):
        of_node, kind = KINDS.get(type(node), ("", ""))
        if kind and (type(node) is not ast.Name or isinstance(node.ctx, ast.Store)):  # type: ignore[union-attr]
            found[kind].append(getattr(node, of_node) or "")
    return found
