"""Each bound of docs/reliability.md: an input at it is read, one beyond it is refused in one line."""

import runpy
from pathlib import Path

import pytest

from fuzz.bounds import BOUNDS
from headscope.errors import HeadscopeError
from headscope.storage import limits

# Rows whose tests stand elsewhere, or in which nothing is refused.
ELSEWHERE = {
    "bytes of a word with a vector": "test_the_longest_word_bounds_what_is_searched",
    "an answer of the hub": "test_a_server_that_is_silent_is_given_up",
    "rows of Parquet that share a page": "",
    "examples kept in memory": "",
    "texts that are tokenized together": "",
    "maps of a text in the viewer": "",
    "columns of a table, fields of a JSON object": "test_columns_and_fields_have_a_bound",
    "values of an attribute of a result": "test_a_list_in_an_attribute_is_refused_before_it_is_read",
    "keys, and weights, of a GGUF file": "test_counts_beyond_the_bounds_are_refused",
    "texts of a result": "test_short_texts_with_the_room_of_a_long_one_are_refused",
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_size_at_a_bound_is_read_and_one_beyond_is_refused(name: str, tmp_path: Path) -> None:
    bound = BOUNDS[name]
    for folder in (tmp_path / "at", tmp_path / "beyond"):
        folder.mkdir()
    bound.take(b"%d" % bound.most, tmp_path / "at")
    with pytest.raises(HeadscopeError) as error:
        bound.take(b"%d" % (bound.most + bound.slack + 1), tmp_path / "beyond")
    assert "\n" not in str(error.value)


def test_all_bounds_are_tested() -> None:
    rows, tested = [what for what, _ in limits.TABLE], {*(bound.row for bound in BOUNDS.values()), *ELSEWHERE}
    assert [row for row in rows if not row.startswith(tuple(tested))] == []
    assert [name for name in tested if not any(row.startswith(name) for row in rows)] == []


def test_the_page_has_the_table_of_the_code() -> None:
    path = Path(__file__).parents[2] / "docs" / "tools" / "bounds.py"
    page = (path.parents[1] / "reliability.md").read_text(encoding="utf-8")
    assert runpy.run_path(str(path))["written"](page) == page
