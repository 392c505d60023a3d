"""Each bound of docs/reliability.md: an input at it is read, one beyond it is refused in one line."""

from pathlib import Path

import pytest

from fuzz.bounds import BOUNDS
from headscope.errors import HeadscopeError

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
# Rows whose tests stand elsewhere, or in which nothing is refused.
ELSEWHERE = {
    "columns of a table, fields of a JSON object": "test_columns_and_fields_have_a_bound",
    "text in a result": "test_an_attribute_that_is_no_utf_8_is_refused",
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


def test_all_bounds_of_the_page_are_tested() -> None:
    table = PAGE.read_text().partition("## Bounds")[2].partition("\n\n`--long`")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| ")][2:]
    refused = {row[0].removeprefix("| ") for row in rows if not row[2].startswith("nothing")}
    tested = {*(bound.row for bound in BOUNDS.values()), *ELSEWHERE}
    assert [row for row in refused if not row.startswith(tuple(tested))] == []
    assert [name for name in tested if not any(row.startswith(name) for row in refused)] == []
