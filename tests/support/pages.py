"""The page of a saved result and the cards of its heads, as files without the figures beside them.

SVG, PDF and PNG of a figure take longer than the page, and have tests of their own; the page has the charts.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from xarray import Dataset

from headscope import report
from headscope.report.cards import card, gather
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.heads_page import write_card, write_heads
from headscope.report.page import MARK, Page
from headscope.storage.files import write_atomically


def marked(result: Dataset, directory: Path, *, made_of: str, **_: Any) -> Path:
    """In the place of `report.write`: a page with nothing but the mark of one that lacks no part."""
    return write_atomically(directory / "report.html", f'<meta name="made-of" content="{made_of}">')


WITHOUT_FILES = tuple(
    f"headscope.report.{name}"
    for name in ("result_page.saving", "heads_page.save_spec", "layers_page.save_spec", "corpora_page.save_spec")
)


def not_written(result: Dataset, directory: Path, **_: Any) -> Path:
    """In the place of `report.write`, which takes longer than most tiny studies: the path of no page."""
    return directory / "report.html"


def page_of(directory: Path) -> str:
    """Write the page of the result in `directory`; return its text.

    Raises `DrawingError` if a part of it cannot be made.
    """
    with patch(WITHOUT_FILES[0]):
        return report.rebuild(directory).read_text(encoding="utf-8")


def cards_of(directory: Path) -> dict[str, str]:
    """Write the page of all heads of the result in `directory`, and the card of the last; return their text by name.

    A result without heads has none.
    """
    models = gather([directory])
    pages = [write_heads(models, directory)] if models else []
    with patch(WITHOUT_FILES[1]):
        pages += [write_card(head_card, directory) for model in models for head_card in card([model], *model.heads[-1])]
    return {page.name: page.read_text(encoding="utf-8") for page in pages}


DRAWN: set[tuple[str, frozenset[str]]] = set()
# The modules that name what writes a page, by the name of the page.
WRITERS = {
    "report.html": ("write", ("headscope.report", "headscope.report.rebuild")),
    "heads.html": (
        "write_heads",
        ("headscope.report.heads_page", "headscope.report.rebuild", "headscope.papers.portrait"),
    ),
}


@contextmanager
def drawn_once() -> Iterator[None]:
    """Within this context pages of results and of heads are empty, where such a page has been written before.

    Such a page: of a result of the same study; of heads in results of the same studies. Pages of results that lack
    variables, or have others, are drawn by the tests of studies.
    """
    with _written_by(_once):
        yield


@contextmanager
def empty_pages() -> Iterator[None]:
    """Within this context pages of results and of heads are empty: to draw them takes longer than most tiny studies."""
    with _written_by(lambda name, write: partial(_empty, name)):
        yield


@contextmanager
def _written_by(instead: Callable[[str, Callable[..., Path]], Callable[..., Path]]) -> Iterator[None]:
    with ExitStack() as patched:
        for page, (name, modules) in WRITERS.items():
            for module in map(import_module, modules):
                patched.enter_context(patch.object(module, name, instead(page, getattr(module, name))))
        yield


def _empty(name: str, shown: object, directory: str | Path, **_: Any) -> Path:
    return write_atomically(Page(Path(directory) / name, "").path, MARK)


def _once(name: str, write: Callable[..., Path]) -> Callable[..., Path]:
    def write_once(shown: Any, directory: str | Path, **options: Any) -> Path:
        page = (name, frozenset(_studies(shown)))
        if page in DRAWN:
            return _empty(name, shown, directory)
        DRAWN.add(page)
        return write(shown, directory, **options)

    return write_once


def _studies(shown: Dataset | Iterable[MeasuredModel]) -> Iterator[str]:
    results = [shown] if isinstance(shown, Dataset) else [one.result for model in shown for one in model.sources]
    return (str(result.attrs["study"]) for result in results)
