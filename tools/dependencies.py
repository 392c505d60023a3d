"""The installed dependencies of headscope, by what needs them first."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "headscope"
# In this order: the package itself, all optional parts, and its development.
GROUPS = {"headscope": ("",), "optional parts": ("all",), "development": ("dev", "docs")}


def installed() -> dict[str, Distribution]:
    """All installed packages by their canonical names."""
    return {canonicalize_name(each.metadata["Name"]): each for each in distributions()}


def own_requirements() -> list[str]:
    """The requirements of pyproject.toml, whose metadata may be those of an older installation.

    A dependency group stands as an extra of its name.
    """
    table = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = table["project"]["optional-dependencies"] | table["dependency-groups"]
    named = [(name, line) for name, lines in extras.items() for line in lines if isinstance(line, str)]
    of_extras = (f"{line}{' and' if ';' in line else ';'} extra == '{name}'" for name, line in named)
    return [*table["project"]["dependencies"], *of_extras]


def by_group() -> dict[str, list[str]]:
    """The names of the dependencies of each group that no group before it has."""
    there, seen, groups = installed(), {PROJECT}, {}
    for group, extras in GROUPS.items():
        names = sorted({name for extra in extras for name in _closure(PROJECT, extra, there)} - seen)
        seen.update(names)
        groups[group] = names
    return groups


def _closure(name: str, extra: str, there: dict[str, Distribution]) -> set[str]:
    """A package with one of its extras and all that these need, as far as it is installed."""
    todo, done = [(name, extra)], set()
    while todo:
        each = todo.pop()
        if each not in done and each[0] in there:
            done.add(each)
            todo += _needs(there[each[0]], each[1])
    return {name for name, _ in done}


def _needs(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    own = package.metadata["Name"] == PROJECT
    for requirement in map(Requirement, (own_requirements() if own else package.requires) or []):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield from ((canonicalize_name(requirement.name), each) for each in ("", *requirement.extras))
