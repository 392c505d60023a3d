"""Names of the package: a class is known by its name alone, and a function's or a variable's says what the thing is."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headscope import catalog
from headscope.catalog import parsed
from support.defined import definitions, functions

pytestmark = pytest.mark.always

# The element of what is iterated has a noun of its own (head, relation, index, path).
VAGUE = {"each", "every", "place", "told", "whole"}
BANNED = (VAGUE - {"whole"}) | {"found", "said", "its", "asked", "over", "ways", "worth", "known"}
# A limit that does not say what it limits.
BARE = {"MOST"}
FILES = sorted(path for path in catalog.ROOT.rglob("*.py"))
TESTS, BENCHMARKS = Path(__file__).parent, Path(__file__).parents[1] / "benchmarks"


def test_class_names_are_unique() -> None:
    names = Counter(name for path in FILES for name in definitions(path, ast.ClassDef))
    assert names and [name for name, count in names.items() if count > 1] == []


def test_functions_have_no_banned_names() -> None:
    assert FILES and [name for path in FILES for name in functions(path) if name.strip("_") in BANNED] == []


def variables(path: Path) -> Iterator[str]:
    """The names of the variables, arguments and aliases of a file."""
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name


@pytest.mark.parametrize("folder", [catalog.ROOT, TESTS, BENCHMARKS], ids=lambda folder: folder.name)
def test_variables_have_the_nouns_of_what_they_are(folder: Path) -> None:
    paths = sorted(folder.rglob("*.py"))
    vague = [(str(path.relative_to(folder)), name) for path in paths for name in variables(path) if name in VAGUE]
    assert paths and vague == [], f"use a noun of the field in the place of {sorted(VAGUE)}"


def test_functions_and_fixtures_of_tests_have_nouns_too() -> None:
    vague = [
        (path.name, name) for path in TESTS.rglob("*.py") for name in functions(path) if name in {*VAGUE, "places"}
    ]
    assert vague == [], "say what it holds or returns: texts, verdicts, unsplit"


def test_limits_say_what_they_limit() -> None:
    bare = [path.name for path in FILES for name in variables(path) if name in BARE]
    assert FILES and bare == [], "MOST_ROWS in the place of MOST"
