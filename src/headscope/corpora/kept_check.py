"""The check of a large corpus, kept in a file: the same run, started again, need not repeat it."""

from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import FilePosition
from headscope.corpora.stream import Mark, Marks
from headscope.storage.codec import decode, encode
from headscope.storage.hashes import SourceFiles
from headscope.storage.lines import line_of, read_lines, replace_lines
from headscope.version import __version__

FORMAT, NAME = "check of a corpus", "check"
Key = dict[str, Any]
Row = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Check:
    """What the check of a corpus found: see `Corpus`.

    * `rows`: of each mark the examples before it, file, bytes, lines and what is known, as a number of `known`.
    """

    n_examples: int
    n_documents: int
    skipped: dict[str, int]
    text_bytes: int
    rows: list[Row]
    known: list[tuple[str, ...]]

    def marks(self) -> Marks:
        """The marks of the rows."""
        return Marks([Mark(*row[:2], FilePosition(*row[2:4], self.known[row[4]])) for row in self.rows])


def check_of(n_examples: int, n_documents: int, skipped: dict[str, int], text_bytes: int, marks: Marks) -> Check:
    """The check of a corpus, with its marks as rows."""
    numbers = {words: number for number, words in enumerate(dict.fromkeys(mark.position.known for mark in marks.marks))}
    rows = [
        (mark.examples, mark.source, mark.position.offset, mark.position.line, numbers[mark.position.known])
        for mark in marks.marks
    ]
    return Check(n_examples, n_documents, skipped, text_bytes, rows, list(numbers))


def keep(folder: Path, kind: str, options: Options, files: SourceFiles, check: Check) -> None:
    """Write the check of the files into the folder, unless it depends on other files too."""
    key = _key(kind, options, files)
    if key:
        replace_lines(_path(folder, key), [line_of({"headscope": FORMAT, "of": key, "check": encode(check)})])


def copies(folder: Path) -> dict[str, str]:
    """The files of all checks in a folder by name, for workers elsewhere."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob(f"{NAME}-*")}


def any_in(folder: Path) -> bool:
    """Whether a folder has a check; else files need not be hashed to look for theirs."""
    return any(folder.glob(f"{NAME}-*"))


def find(folder: Path, kind: str, options: Options, files: SourceFiles) -> Check | None:
    """The check of the files that the folder holds; None if it is missing or damaged."""
    key = _key(kind, options, files)
    path = _path(folder, key)
    record = next(read_lines(path), None) if key and path.exists() else None
    if record is None or record.get("headscope") != FORMAT or record.get("of") != key:
        return None
    try:
        check = decode(record.get("check"), Check)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return check if _is_sound(check, len(key["files"])) else None


def _key(kind: str, options: Options, files: SourceFiles) -> Key:
    """What a check depends on; empty if that is also a tokenizer or a pipeline, and of a part of the files."""
    if options.annotate or options.limit or kind == "paragraphs":
        return {}
    named = [[Path(name).name, size] for name, size, _ in files.stamps]
    plain = replace(options, kind=kind, offsets=None, cursor=None)
    return {"headscope": __version__, "sha256": files.sha256, "files": named, "options": repr(plain)}


def _path(folder: Path, key: Key) -> Path:
    return folder / f"{NAME}-{sha256(repr(key).encode()).hexdigest()[:16]}"


def _is_sound(check: Check, files: int) -> bool:
    """Whether the marks are in order, from the start of the corpus on, and each is in its file."""
    numbers = (number for row in check.rows for number in row)
    counts = (check.n_examples - 1, check.n_documents, check.text_bytes, *check.skipped.values(), *numbers)
    in_order = all(row[0] < following[0] and row[1:3] <= following[1:3] for row, following in pairwise(check.rows))
    begins = check.rows[:1] == [(0, 0, 0, 0, 0)] and check.known[:1] == [()]
    return begins and in_order and min(counts) >= 0 and all(_fits(row, check, files) for row in check.rows)


def _fits(row: Row, check: Check, files: int) -> bool:
    examples, file, offset, line, number = row
    return examples <= check.n_examples and file < files and line <= offset and number < len(check.known)
