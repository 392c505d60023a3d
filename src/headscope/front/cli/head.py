"""The command `head`: the report card of a head, or an index that ranks heads."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table as Laid

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import user_errors
from headscope.front.cli.printing import cell, print_json, printable

if TYPE_CHECKING:
    from headscope.report.cards import Card, MeasuredModel
    from headscope.report.cards.head_numbers import RankRow
    from headscope.report.parts import Finding
    from headscope.report.tables import Table

BAR = 16  # characters
HEAD = re.compile(r"(\d{1,9})-(\d{1,9})")

Places = Annotated[
    list[str], typer.Argument(metavar="[HEAD...] DIR...", help="Heads (4-7), then folders of results; within them too.")
]
By = Annotated[
    str | None,
    typer.Option(metavar="VARIABLE[.LABEL]", help="Rank heads by a number: entropy, attention_to.sep, accuracy.nsubj."),
]
Ascending = Annotated[bool, typer.Option("--ascending", help="With --by: the smallest value first.")]
Top = Annotated[int | None, typer.Option(min=1, max=100_000, help="With --by: number of heads.")]
Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Write a page: of each head, or of all heads.")
]
Json = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON.")]


def head(
    places: Places,
    by: By = None,
    ascending: Ascending = False,
    top: Top = None,
    out: Out = None,
    json: Json = False,
    *,
    debug: bool,
) -> None:
    """Tell all that is known about a head, from all results in some folders; without HEAD rank the heads."""
    with user_errors(debug):
        from headscope.report.cards import gather
        from headscope.results.hub import fetch

        heads, folders = split(places)
        if heads and (by or ascending or top):
            raise HeadscopeError(f"--by, --ascending and --top rank all heads; leave out {places[0]}, or these options")
        if (ascending or top) and not by:
            raise HeadscopeError("--ascending and --top go with --by VARIABLE; add that, or leave them out")
        models = gather([fetch(folder) for folder in folders])
        if not models:
            raise HeadscopeError(f"none of the results in '{folders[0]}' is about heads; 'headscope profile' makes one")
        show = Printer(json, "cards" if heads else "rankings" if by else "models")
        if heads:
            _cards(models, heads, out, show)
        elif by:
            _ranking(models, by, ascending, top, show)
        else:
            _index(models, show)
        if out and not heads:
            _page_of_all(models, out, show)
        show.finish()


def split(places: list[str]) -> tuple[list[tuple[int, int]], list[str]]:
    """The heads that come first, and the folders after them.

    Raises `HeadscopeError` if there is no folder.

    >>> split(["4-7", "5-1", "out"])
    ([(4, 7), (5, 1)], ['out'])
    """
    matches = [HEAD.fullmatch(word) for word in places]
    n_heads = next((at for at, match in enumerate(matches) if match is None), len(places))
    if n_heads == len(places):
        raise HeadscopeError(f"head '{places[-1]}': no folder is named; name folders that studies wrote with -o")
    return [(int(match[1]), int(match[2])) for match in matches[:n_heads] if match], places[n_heads:]


class Printer:
    """Prints for people as it goes, or for programs at the end."""

    def __init__(self, as_json: bool, kind: str):
        """`kind`: the name of the list of values for programs."""
        self.as_json, self.kind, self.console, self.values = as_json, kind, Console(quiet=as_json), []

    def line(self, text: str, style: str = "") -> None:
        """A line of text for people."""
        self.console.print(printable(text), style=style, soft_wrap=True, highlight=False, markup=False)

    def table(self, table: "Table", *, intervals: bool = True) -> None:
        """A table for people, with its caption."""
        from headscope.front.cli.terminal import laid_out

        self.line(table.caption, "bold")
        self.console.print(laid_out(_beside(table) if intervals else table, self.console.width))

    def facts(self, findings: "Sequence[Finding]") -> None:
        """Sentences for people, each beside its topic."""
        grid = Laid.grid(padding=(0, 2, 0, 0))
        for finding in findings:
            grid.add_row(cell(finding.topic), cell(finding.text))
        if findings:
            self.console.print(grid)

    def ranks(self, rows: "Sequence[RankRow]") -> None:
        """The rank of a head in each number for people: a bar, then words."""
        grid = Laid.grid(padding=(0, 2, 0, 0))
        for row in rows:
            style = "yellow" if row.stands_out else "blue"
            bar = ProgressBar(1, row.share, width=BAR, complete_style=style, finished_style=style)
            grid.add_row(bar, cell(row.rank_words), cell(row.value), cell(row.words))
        if rows:
            self.console.print(grid)

    def add(self, value: dict[str, Any]) -> None:
        """A value for programs."""
        self.values.append(value)

    def finish(self) -> None:
        """Print the values as JSON, for programs."""
        if self.as_json:
            print_json({self.kind: self.values})


def _cards(models: "list[MeasuredModel]", heads: list[tuple[int, int]], out: Path | None, show: Printer) -> None:
    from headscope.report.cards import card
    from headscope.report.heads_page import write_card

    for layer, number in heads:
        cards = card(models, layer, number)
        _say_models(models, show)
        for head_card in cards:
            page = str(write_card(head_card, out, alone=len(models) == 1)) if out else None
            _print_card(head_card, show)
            show.line(f"page: {page}" if page else "a page with its maps and charts: -o FOLDER")
            show.add(_about(head_card.model) | {"head": head_card.name, "page": page, "numbers": _plain(head_card)})


def _print_card(card: "Card", show: Printer) -> None:
    from headscope.report.cards import of_card

    show.line(f"Head {card.name} of {card.model.name}", "bold underline")
    show.ranks(card.rank_rows)
    show.facts(card.findings)
    for part in card.parts:
        show.line("")
        show.line(part.source.name, "bold")
        show.facts(part.findings)
        if not part.findings:
            show.table(of_card(part.picked, "card", "its numbers"))
    show.line("")


def _beside(table: "Table") -> "Table":
    """The table with intervals as part of the values."""
    joined = [
        (row_names, [cell and (" ".join(filter(None, (cell[0], cell[1] and f"[{cell[1]}]"))), "") for cell in cells])
        for row_names, cells in table.rows
    ]
    return replace(table, rows=joined)


def _plain(card: "Card") -> list[dict[str, Any]]:
    """All numbers of a card."""
    rows = []
    for part in card.parts:
        attrs = part.source.result.attrs
        where = {"study": attrs["study"], "corpus": attrs["corpus"], "result": str(part.source.path)}
        mine = part.numbers.drop(columns=["layer", "head", "source"])
        rows += [where | row for row in mine.to_dict("records")]
    return rows


def _index(models: "list[MeasuredModel]", show: Printer) -> None:
    from headscope.report.cards import index
    from headscope.report.layer_numbers import highlights
    from headscope.report.parts import Finding

    _say_models(models, show)
    for model in models:
        table, layers = index(model), list(highlights(model.layers))
        show.table(table, intervals=False)
        show.facts([Finding(f"Layers: {layer.topic}", layer.text) for layer in layers])
        show.line("columns that are not shown, and intervals: -o FOLDER or --json")
        names = [column.words for column in table.columns]
        rows = [
            {"head": head_name[0]} | {name: cell and cell[0] for name, cell in zip(names, cells, strict=True)}
            for head_name, cells in table.rows
        ]
        show.add(_about(model) | {"heads": rows, "layers": {layer.topic: layer.text for layer in layers}})


def _ranking(models: "list[MeasuredModel]", by: str, ascending: bool, top: int | None, show: Printer) -> None:
    from headscope.report.cards import addressed, ranking

    having = [model for model in models if any(by.startswith(name) for name in set(model.numbers["variable"]))]
    _say_models(models, show)
    for model in having or models[:1]:
        for table in ranking(model, by, ascending=ascending, top=top):
            show.line(model.name, "bold underline")
            show.table(table)
        rows = addressed(model.numbers, by).sort_values("value", ascending=ascending)
        for source_number, mine in rows.groupby("source"):
            source = model.sources[int(str(source_number))]
            values = mine.head(top or len(mine)).drop(columns="source").to_dict("records")
            show.add(_about(model) | {"by": by, "source": source.name, "result": str(source.path), "heads": values})


def _page_of_all(models: "list[MeasuredModel]", out: Path, show: Printer) -> None:
    from headscope.report.corpora_page import write_corpora
    from headscope.report.heads_page import write_heads
    from headscope.report.layers_page import write_layers

    for page in filter(None, (write_heads(models, out), write_layers(models, out), write_corpora(models, out))):
        show.line(f"page: {page}")
        show.add({"page": str(page)})


def _about(model: "MeasuredModel") -> dict[str, Any]:
    return {"model": model.name, "names": list(model.names), "sha256": model.sha256}


def _say_models(models: "list[MeasuredModel]", show: Printer) -> None:
    if models[1:]:
        names = ", ".join(f"{model.name} ({model.sha256[:8]})" for model in models)
        show.line(f"{len(models)} models, told apart by the hash of their weights and not mixed: {names}")
