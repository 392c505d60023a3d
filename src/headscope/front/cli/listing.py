"""`headscope list`: studies, measures and kinds of corpora with their one-line summaries, none of them imported."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from headscope import catalog
from headscope.front.cli.printing import cell

FOLDERS = {
    "measures": "Measures",
    "measures/comparisons": "Comparisons of two models",
    "corpora/readers": "Kinds of corpora",
}


def print_catalog() -> None:
    """Print the studies by question, then measures and kinds of corpora, with their one-line summaries."""
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
