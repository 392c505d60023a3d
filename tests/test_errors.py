"""Errors are one line; the ends of errors about unknown names."""

from pathlib import Path

import pytest

from headscope.corpora import read
from headscope.errors import HeadscopeError, nearest, suggest


def test_the_nearest_name_then_all_of_them():
    assert suggest("Entrpy", ["entropy", "surface"]) == "did you mean 'entropy'? there are: entropy, surface"
    assert suggest("xyz", ["entropy", "surface", "entropy"]) == "there are: entropy, surface"
    assert suggest("xyz", []) == "there are none"


def test_a_remedy_takes_the_place_of_many_names():
    assert suggest("a.tx", ["a.txt", "b.txt"], remedy="name a file") == "did you mean 'a.txt'? name a file"
    assert suggest("7", map(str, range(100, 125))).endswith("118, 119 and 5 more")


def test_case_and_hyphens_do_not_count():
    assert nearest("QnLI", ["QNLI", "WNLI"]) == "QNLI"
    assert nearest("coreference", ["syntax"]) is None


def test_a_message_is_one_line_whatever_a_file_has_put_into_it(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('"te\nxt",label\none\n', encoding="utf-8")
    with pytest.raises(HeadscopeError, match=r"1 columns, expected 2 \(te xt, label\)"):
        list(read(tmp_path / "x.csv"))
    assert str(HeadscopeError("a\u2028b\r\nc")) == "a b c"


def test_a_message_with_an_endless_name_keeps_its_beginning_and_its_end() -> None:
    line = str(HeadscopeError(f"corpus '{'x' * 100_000}' is a folder; name a file"))
    assert len(line) < 2100 and line.startswith("corpus 'xx") and line.endswith("xx' is a folder; name a file")
