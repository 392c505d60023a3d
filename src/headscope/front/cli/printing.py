"""What a command prints: text from files and models as it is safe to print, JSON for programs, and what there is.

No control character reaches the terminal. JSON is one object on standard output, with the version of its schema;
docs/json.md lists the fields.
"""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from headscope import catalog

# Raised where a field goes or changes its meaning. A new field leaves it as it is.
SCHEMA = 1
FOLDERS = {
    "measures": "Measures",
    "measures/comparisons": "Comparisons of two models",
    "corpora/readers": "Kinds of corpora",
}


def printable(value: object) -> str:
    """Text on one line, with escapes instead of control characters.

    >>> printable("a\\x1b[31mred\\n  b")
    'a\\\\x1b[31mred b'
    """
    return escaped(" ".join(str(value).split()))


def escaped(value: object) -> str:
    """Text with escapes instead of control characters, such as a path; spaces stay as they are.

    >>> escaped("a  \\x1b[31mred")
    'a  \\\\x1b[31mred'
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in str(value))


def cell(value: object) -> Text:
    """A printable cell of a table, in which brackets are no markup."""
    return Text(printable(value))


def table_of(headings: Iterable[object], rows: Iterable[Iterable[object]], **layout: Any) -> Table:
    """A table of printable headings and cells."""
    table = Table(*(Column(cell(heading)) for heading in headings), box=SIMPLE_HEAD, **layout)
    for row in rows:
        table.add_row(*map(cell, row))
    return table


def print_table(headings: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
    """Print a table of printable headings and cells."""
    Console().print(table_of(headings, rows))


def print_json(values: Mapping[str, Any]) -> None:
    """Print one object, in one line."""
    typer.echo(json.dumps({"schema": SCHEMA} | finite(values), allow_nan=False))


def finite(value: Any) -> Any:
    """A value with None, JSON's null, instead of numbers that are not finite.

    >>> finite({"q": float("nan"), "values": (1, float("inf"))})
    {'q': None, 'values': [1, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def list_catalog() -> None:
    """List the studies by question, the measures and the kinds of corpora."""
    console = Console()
    for question, studies in catalog.studies_by_question().items():
        _print_list(
            console, question, {catalog.command_name(study): catalog.summary("studies", study) for study in studies}
        )
    for folder, title in FOLDERS.items():
        summaries = {name: catalog.summary(folder, name) for name in catalog.names(folder)}
        if folder == "measures":
            summaries |= {entry.name: f"installed: {entry.value}" for entry in catalog.installed_measures()}
        _print_list(console, title, summaries)


def _print_list(console: Console, title: str, summaries: Mapping[str, str]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2))
    for name, summary in summaries.items():
        table.add_row(cell(name), cell(summary))
    console.print(table)
    console.print()
