"""Wrap the prose of Markdown pages at 120 characters; tables, code, pictures and titles stay as they are.

    python docs/tools/wrap.py README.md docs/*.md

A paragraph or an item of a list is wrapped anew where one of its lines is longer.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
ITEM = re.compile(r"(\s*)([*+-]|\d+\.) +")
FENCE = re.compile(r"\s*(```|~~~)")
# A line that is no prose: a title, a table, a picture, a quotation, HTML, a name of mkdocstrings, or a forced break.
FIXED = re.compile(r"\s*(#|\||!\[|>|<|:::|---|\[\^?[^\]]+\]:)|.*(  |\\)$")
# A word that means something else at the start of a line.
START = re.compile(r"([*+>#|:-]+|\d+[.)]|:::.*|<.*|!\[.*)$")


def wrapped(text: str) -> str:
    """The page, with its long paragraphs wrapped.

    >>> [len(line) for line in wrapped("* " + "word " * 30).splitlines()]
    [116, 36]
    """
    lines, kept, code = [], [], False
    for line in text.splitlines():
        fence = FENCE.match(line) is not None
        if kept and (fence or code or not _goes_on(line, kept)):
            lines += _paragraph(kept)
            kept = []
        code ^= fence
        if code or fence or not line.strip() or FIXED.match(line) or _indented_code(line, lines):
            lines.append(line)
        else:
            kept.append(line)
    return "\n".join([*lines, *_paragraph(kept)]) + "\n"


def _goes_on(line: str, kept: list[str]) -> bool:
    """Whether a line belongs to the paragraph before it."""
    return bool(line.strip()) and not FIXED.match(line) and not ITEM.match(line) and bool(kept)


def _indented_code(line: str, lines: list[str]) -> bool:
    """Whether a line begins, after an empty one, with four spaces and no mark of a list."""
    return (
        line.startswith("    ")
        and not ITEM.match(line)
        and (not lines or not lines[-1].strip() or lines[-1][:4] == "    ")
    )


def _paragraph(lines: list[str]) -> Iterator[str]:
    """The lines of a paragraph; broken anew where one is too long."""
    if all(len(line) <= WIDTH for line in lines):
        yield from lines
        return
    item = ITEM.match(lines[0])
    first = item.group() if item else lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    indent = " " * len(first)
    words = " ".join([lines[0][len(first) :], *(line.strip() for line in lines[1:])]).split()
    current, prefix = words[0], first
    for word in words[1:]:
        if len(prefix) + len(current) + 1 + len(word) > WIDTH and not START.match(word):
            yield prefix + current
            current, prefix = word, indent
        else:
            current += f" {word}"
    yield prefix + current


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        before = page.read_text(encoding="utf-8")
        if (after := wrapped(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page)
