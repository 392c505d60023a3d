"""The names of what the files of the project define."""

import ast
from pathlib import Path

from headscope.catalog import parsed


def definitions(path: Path, *kinds: type) -> list[str]:
    """The names of all definitions of some kinds in a file."""
    return [getattr(node, "name", "") for node in ast.walk(parsed(path)) if isinstance(node, kinds)]


def functions(path: Path) -> list[str]:
    """The names of the functions of a file."""
    return definitions(path, ast.FunctionDef, ast.AsyncFunctionDef)
