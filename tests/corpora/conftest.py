"""What tests of corpora share: the lines that a reader has read."""

from typing import Any

import pytest

from headscope.corpora.parsing.lines import Cursor


@pytest.fixture
def lines_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the lines that are read."""
    numbers, next_line = list[int](), Cursor.next_line

    def noting(cursor: Cursor, file: Any) -> bytes:
        line = next_line(cursor, file)
        numbers.append(cursor.line)
        return line

    monkeypatch.setattr(Cursor, "next_line", noting)
    return numbers
