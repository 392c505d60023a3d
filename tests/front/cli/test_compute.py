"""The journal of a run knows its options; files that are options are for the study alone to read."""

import builtins
import os
from pathlib import Path

import pytest

from headscope.front.cli.compute import _text


def test_a_file_is_known_by_size_and_time_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 0.1\n", encoding="utf-8")
    os.truncate(vectors, 1 << 40)
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("the file is read"))
    before = _text(vectors)
    assert before == _text(vectors) and before != _text(tmp_path) == str(tmp_path)
    os.truncate(vectors, 9)
    assert _text(vectors) != before
