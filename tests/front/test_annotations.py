"""Types of options, read from code that is never run."""

import ast
from pathlib import Path
from typing import Any, Literal

import pytest

from headscope.front.annotations import read
from headscope.ranges import Range


@pytest.mark.parametrize(
    ("text", "kind", "bounds"),
    [
        ("bool", bool, None),
        ("Path | None", Path | None, None),
        ("list[str] | None", list[str] | None, None),
        ("Literal['a', 'b']", Literal["a", "b"], None),
        ("Literal['a', 'b'] | None", Literal["a", "b"] | None, None),
        ("Annotated[float, Range(0, 1)]", float, Range(0, 1)),
        ("Annotated[int, Range(least=-1)] | None", int | None, Range(-1)),
    ],
)
def test_type_and_range_of_an_annotation(text: str, kind: Any, bounds: Range | None) -> None:
    assert read(ast.parse(text, mode="eval").body) == (kind, bounds)


@pytest.mark.parametrize("text", ["Corpus", "list[exit(3)]", "Literal[exit(3)]", "Annotated[int, exit(3)]", "set[int]"])
def test_nothing_else_is_read_or_run(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        read(ast.parse(text, mode="eval").body)
