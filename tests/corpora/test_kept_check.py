"""The check of a corpus that is kept: the same corpus, without a line that is read again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headscope.corpora import Corpus, Options, kept_check, read
from headscope.corpora import reading as module
from headscope.errors import HeadscopeError
from headscope.storage.lines import line_of, read_lines

CONTENT = "sentence\tlabel\n" + "A text.\t1\n\none column\nZoë.\t2\n" * 20


CHECK = kept_check.Check(1, 0, {}, 1, [(0, 0, 0, 0, 0)], [()])


@pytest.fixture(autouse=True)
def checks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 10)
    monkeypatch.setattr(module, "SECONDS", 0.0)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "x.tsv").write_text(CONTENT)
    return tmp_path / "x.tsv"


def corpus(table: Path, **options: Any) -> Corpus:
    return read(table, Options(**{"skip_bad": True, **options}), kept=table.parent / "kept")


def facts(found: Corpus) -> tuple[Any, ...]:
    return found.name, found.sha256, found.n_examples, found.skipped, found.files, found.text_bytes, list(found)


def test_a_kept_check_is_that_of_reading_all_lines(table: Path, lines_read: list[int]) -> None:
    first = corpus(table)
    assert lines_read
    lines_read.clear()
    again = corpus(table)
    assert not lines_read
    assert facts(again) == facts(first) and again.skipped == {"empty": 20, "bad": 20}
    for number in range(first.n_examples):
        assert list(again.since(number)) == list(first)[number:]


@pytest.mark.parametrize("options", [{"limit": 30}, {"columns": "label"}, {"skip_bad": True, "kind": "table"}])
def test_other_options_and_other_bytes_are_checked_anew(
    table: Path, lines_read: list[int], options: dict[str, Any]
) -> None:
    corpus(table)
    lines_read.clear()
    corpus(table, **options)
    assert bool(lines_read) == (options.get("kind") is None)
    table.write_text(CONTENT.replace("Zoë", "Ann"))
    lines_read.clear()
    assert next(corpus(table).since(1)).first[0].text == "Ann." and lines_read


def test_a_short_check_and_a_small_corpus_are_not_kept(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus(table, limit=10)
    monkeypatch.setattr(module, "SECONDS", 60.0)
    corpus(table)
    assert not (table.parent / "kept").exists()


def test_what_a_pipeline_or_a_tokenizer_changes_is_not_kept(table: Path) -> None:
    pieces = lambda text: [(at, at + 1) for at in range(len(text))]  # noqa: E731
    read(table, Options(kind="paragraphs", offsets=pieces), kept=table.parent / "kept")
    found = corpus(table)
    folder = table.parent / "annotated"
    assert found.files and len(list((table.parent / "kept").iterdir())) == 1
    kept_check.keep(folder, "table", Options(annotate="en"), found.files, CHECK)
    assert not folder.exists()


def edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A function that forges a kept check, with a right checksum."""

    def act(path: Path) -> None:
        record = next(read_lines(path))
        assert record
        change(record["check"])
        path.write_bytes(line_of(record))

    return act


FORGED: dict[str, Callable[[Path], object]] = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "flipped": lambda path: path.write_bytes(path.read_bytes().replace(b"text_bytes", b"text_bytez")),
    "empty": lambda path: path.write_bytes(b""),
    "of other files": lambda path: path.write_bytes(path.read_bytes().replace(b"x.tsv", b"y.tsv")),
    "of other options": lambda path: path.write_bytes(line_of({**(next(read_lines(path)) or {}), "of": {}})),
    "no table": edit(lambda check: check.clear()),
    "no marks": edit(lambda check: check.update(rows=[])),
    "other types": edit(lambda check: check.update(rows=[[0, 0, 0, 0, "0"]])),
    "a short row": edit(lambda check: check.update(rows=[[0, 0]])),
    "not in order": edit(lambda check: check.update(rows=[check["rows"][0], *check["rows"][:0:-1]])),
    "negative": edit(lambda check: check.update(n_examples=-1)),
    "no examples": edit(lambda check: check.update(n_examples=0)),
    "no such file": edit(lambda check: check["rows"][-1].__setitem__(1, 1)),
    "no such header": edit(lambda check: check["rows"][-1].__setitem__(4, 9)),
    "more lines than bytes": edit(lambda check: check["rows"][-1].__setitem__(3, 10**9)),
    "beyond the last example": edit(lambda check: check["rows"][-1].__setitem__(0, 10**9)),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_damaged_or_forged_check_is_made_anew(
    table: Path, lines_read: list[int], forge: Callable[[Path], object]
) -> None:
    first = facts(corpus(table))
    (path,) = (table.parent / "kept").iterdir()
    forge(path)
    lines_read.clear()
    again = corpus(table)
    assert lines_read
    assert facts(again) == first
    lines_read.clear()
    corpus(table)
    assert not lines_read


def test_a_forged_place_within_a_line_is_an_error(table: Path) -> None:
    corpus(table)
    (path,) = (table.parent / "kept").iterdir()
    edit(lambda check: [row.__setitem__(2, row[2] + 2) for row in check["rows"][1:]])(path)
    with pytest.raises(
        HeadscopeError, match=r"x.tsv' cannot be read: no line begins at byte \d+, where one began when the file"
    ):
        list(corpus(table).since(9))
