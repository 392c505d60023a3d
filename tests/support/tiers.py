"""Tests in two tiers: quick ones and some kinds in turn, and all where tests are thorough."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

# Their bodies take over 0.85 processor seconds: `--slow-tests 0.85` of benchmarks/seconds_of_tests.py writes the list.
SLOW = Path(__file__).parents[1] / "slow_tests.txt"


def leave_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of the list of slow ones as thorough, but those that are always run."""
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in slow and not item.get_closest_marker("always"):
            item.add_marker(pytest.mark.thorough)


def in_turn(values: Collection[Any], at: int = 0, of: int = 3) -> list[Any]:
    """Values for `parametrize`, of which one in `of` is in the first tier, from number `at` on; others are thorough.

    * `values`: of one argument, or tuples of those of several.

    >>> [bool(value.marks) for value in in_turn("abcd", at=1)]
    [True, False, True, True]
    """
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [_value(row, number % of == at) for number, row in enumerate(rows)]


def paired(ones: Collection[Any], others: Sequence[Any]) -> list[Any]:
    """Pairs for `parametrize`, of which each of `ones` has one in turn in the first tier; others are thorough.

    >>> [value.values for value in paired("ab", [1, 2]) if not value.marks]
    [('a', 1), ('b', 2)]
    """
    return [
        _value((one, other), (number - index) % len(others) == 0)
        for number, one in enumerate(ones)
        for index, other in enumerate(others)
    ]


def chosen(values: Collection[Any], first: Callable[[Any], bool]) -> list[Any]:
    """Values for `parametrize`, of which those are in the first tier that `first` is true of; others are thorough.

    >>> [bool(value.marks) for value in chosen([1, 2, 3], lambda number: number > 1)]
    [True, False, False]
    """
    return [_value((value,), first(value)) for value in values]


def _value(values: tuple[Any, ...], first: bool) -> Any:
    return pytest.param(*values, marks=() if first else pytest.mark.thorough)
