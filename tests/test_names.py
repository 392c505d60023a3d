"""Names of the package: a class is known by its name alone, and a function's or a variable's says what the thing is."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from headscope import catalog
from support.defined import definitions

pytestmark = pytest.mark.always

# The element of what is iterated has a noun of its own (head, relation, index, path).
VAGUE = {"each", "every", "place", "told", "whole"}
BANNED = (VAGUE - {"whole"}) | {"found", "said", "its", "asked", "over", "ways", "worth", "known"}
# A limit that does not say what it limits.
BARE = {"MOST"}
FILES = sorted(path for path in catalog.ROOT.rglob("*.py"))
TESTS, BENCHMARKS = Path(__file__).parent, Path(__file__).parents[1] / "benchmarks"


def files_with(names: set[str], kind: str, paths: Iterable[Path]) -> list[str]:
    """The files that define something of a kind by one of some names, with that name."""
    files = list(paths)
    assert files
    return [f"{path}: {name}" for path in files for name in definitions(path)[kind] if name in names]


def test_class_names_are_unique() -> None:
    names = Counter(name for path in FILES for name in definitions(path)["class"])
    assert names and [name for name, count in names.items() if count > 1] == []


def test_functions_have_no_banned_names() -> None:
    assert files_with({*BANNED, *(f"_{name}" for name in BANNED)}, "function", FILES) == []


@pytest.mark.parametrize("folder", [catalog.ROOT, TESTS, BENCHMARKS], ids=lambda folder: folder.name)
def test_variables_have_the_nouns_of_what_they_are(folder: Path) -> None:
    vague = files_with(VAGUE, "variable", folder.rglob("*.py"))
    assert vague == [], f"use a noun of the field in the place of {sorted(VAGUE)}"


def test_functions_and_fixtures_of_tests_have_nouns_too() -> None:
    vague = files_with({*VAGUE, "places"}, "function", TESTS.rglob("*.py"))
    assert vague == [], "say what it holds or returns: texts, verdicts, unsplit"


def test_limits_say_what_they_limit() -> None:
    assert files_with(BARE, "variable", FILES) == [], "MOST_ROWS in the place of MOST"
