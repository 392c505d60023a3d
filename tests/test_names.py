"""Names of the package: a class is known by its name alone, and a function's name says what the thing is."""

import ast
from collections import Counter
from pathlib import Path

from headscope import catalog

BANNED = {"told", "found", "said", "its", "asked", "over", "ways", "worth", "known"}
FILES = sorted(path for path in catalog.ROOT.rglob("*.py"))


def definitions(*kinds: type) -> list[str]:
    """The names of all definitions of some kinds."""
    return [
        getattr(node, "name", "")
        for path in FILES
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


def test_class_names_are_unique() -> None:
    names = Counter(definitions(ast.ClassDef))
    assert names and [name for name, count in names.items() if count > 1] == []


def test_functions_have_no_banned_names() -> None:
    functions = set(definitions(ast.FunctionDef, ast.AsyncFunctionDef))
    assert functions and [name for name in functions if name.strip("_") in BANNED] == []
