"""Names of the package: a class is known by its name alone, and a function's or a variable's says what the thing is."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from headscope import catalog

BANNED = {"told", "found", "said", "its", "asked", "over", "ways", "worth", "known"}
# Of variables: the element of what is iterated has a noun of its own (head, relation, index, path).
VAGUE = {"each", "place", "whole"}
# Rooms that still have such variables, and how many; a room that is done goes, and no number grows.
LEFT = {
    "ablation": 9,
    "capture": 22,
    "cluster": 9,
    "encoding": 3,
    "figures": 7,
    "linguistics": 8,
    "measures": 2,
    "outputs": 11,
    "passes": 24,
    "report": 11,
    "statistics": 4,
    "storage": 17,
    "studies": 488,
    "viewer": 8,
}
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


def variables(path: Path) -> Iterator[str]:
    """The names of the variables, arguments and aliases of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name


def test_variables_have_the_nouns_of_what_they_are() -> None:
    vague = Counter(
        path.relative_to(catalog.ROOT).parts[0] for path in FILES for name in variables(path) if name in VAGUE
    )
    grown = {room: number for room, number in vague.items() if number > LEFT.get(room, 0)}
    assert FILES and grown == {}, f"use a noun of the field in the place of {sorted(VAGUE)}"
    assert LEFT.keys() <= vague.keys(), "a room that is done leaves the list"
