"""Rows of a suite's table whose columns are named in its first line."""

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headscope.corpora.parsing.lines import lines
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError


class SuiteRow(NamedTuple):
    """The wanted values of a line, without blanks around them."""

    line: int
    values: tuple[str, ...]


def rows(file: str, columns: Sequence[str], *, quoted: bool = False) -> Iterator[SuiteRow | Bad]:
    """The wanted columns of each line that is not empty; `Bad` for a line with another number of columns.

    * `quoted`: values may stand in quote marks, as in CSV.

    Raises `HeadscopeError` if a column is missing in the first line.
    """
    numbered = lines(file, "suite")
    header = _split(next(numbered, (0, ""))[1], quoted)
    if missing := [name for name in columns if name not in header]:
        raise HeadscopeError(f"suite '{file}', line 1: no column '{missing[0]}'; its columns are {', '.join(columns)}")
    places = [header.index(name) for name in columns]
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            values = _split(line, quoted)
        except csv.Error as error:
            yield Bad(number, f"not a table ({error})")
            continue
        if len(values) != len(header):
            yield Bad(number, f"{len(values)} columns, expected {len(header)}")
        else:
            yield SuiteRow(number, tuple(values[column].strip() for column in places))


def _split(line: str, quoted: bool) -> list[str]:
    """The values of a line; a quote mark that is never closed holds the rest of it."""
    if not quoted:
        return line.split("\t")
    return next(csv.reader([line], delimiter="\t"), [])
