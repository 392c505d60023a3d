"""Names of sets of heads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope import HeadscopeError
from headscope.models.heads import existing, name, parse

HEADS = (4, 2, 3)


@st.composite
def sets_of_heads(draw: st.DrawFn) -> tuple[np.ndarray, tuple[int, ...]]:
    heads = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any)))
    chosen = np.array([[draw(st.booleans()) for _ in range(max(heads))] for _ in heads]) & existing(heads)
    return chosen, heads


@given(sets_of_heads())
def test_a_name_means_the_set_that_it_was_made_of(given_: tuple[np.ndarray, tuple[int, ...]]) -> None:
    chosen, heads = given_
    named = name(chosen, heads)
    assert named == "" if not chosen.any() else np.array_equal(parse(named, heads), chosen)


@pytest.mark.parametrize(
    ("names", "rows"),
    {
        "1-1": ([0], [], []),
        "1-4, 3-3": ([3], [], [2]),
        "2-*": ([], [0, 1], []),
        "*-*": ([0, 1, 2, 3], [0, 1], [0, 1, 2]),
        "*-3": ([2], [], [2]),
        "1-2,1-2,1-*": ([0, 1, 2, 3], [], []),
    }.items(),
)
def test_names(names: str, rows: tuple[list[int], ...]) -> None:
    found = parse(names, HEADS)
    assert found.shape == (3, 4) and found.dtype == bool
    assert tuple(np.flatnonzero(row).tolist() for row in found) == rows


@pytest.mark.parametrize(
    ("names", "message"),
    {
        "4-1": "head '4-1' does not exist: layers are 1 to 3; name one of them",
        "0-1": "head '0-1' does not exist: layers are 1 to 3; name one of them",
        "1-1,2-3": "head '2-3' does not exist: heads of layer 2 are 1 to 2; name one of them",
        "1-0": "head '1-0' does not exist: heads of layer 1 are 1 to 4; name one of them",
        "*-5": "head '*-5' does not exist: heads of a layer are 1 to 4; name one of them",
        "": "heads '': '' is no head; write LAYER-HEAD, as in 3-7,4-*",
        "1-1,": "heads '1-1,': '' is no head; write LAYER-HEAD, as in 3-7,4-*",
        "all": "heads 'all': 'all' is no head; write LAYER-HEAD, as in 3-7,4-*",
        "1-２": "heads '1-２': '1-２' is no head; write LAYER-HEAD, as in 3-7,4-*",
    }.items(),
)
def test_what_is_no_head_is_said_in_one_line(names: str, message: str) -> None:
    with pytest.raises(HeadscopeError) as error:
        parse(names, HEADS)
    assert str(error.value) == message


@given(st.text("0123456789-*, x", max_size=12))
def test_anything_else_is_refused_and_never_something_else(names: str) -> None:
    try:
        found = parse(names, HEADS)
    except HeadscopeError as error:
        assert "\n" not in str(error)
    else:
        assert found.any() and not (found & ~existing(HEADS)).any()


def test_the_shortest_name() -> None:
    assert name(parse("1-1,1-2,1-3,1-4,3-2", HEADS), HEADS) == "1-*,3-2"
    assert name(np.ones((3, 4), dtype=bool), HEADS) == "*-*"
    assert name(np.zeros((3, 4), dtype=bool), HEADS) == ""


def test_a_number_of_thousands_of_digits_is_no_head() -> None:
    with pytest.raises(HeadscopeError, match="is no head; write LAYER-HEAD"):
        parse(f"1-{'9' * 5000}", HEADS)
