"""The pages of saved results, written again."""

import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import catalog, results
from headscope.catalog import missing
from headscope.errors import HeadscopeError
from headscope.figures.export import DEFAULT_FORMATS
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import Source, models_in, read_all
from headscope.report.corpora_page import write_corpora
from headscope.report.heads_page import write_heads
from headscope.report.layers_page import write_layers
from headscope.report.result_page import write
from headscope.storage.files import staying_in
from headscope.version import __version__

PARTS = (".py", ".html", ".css", ".js")
HEAD = 4000  # characters of a page that its mark stands in


def rebuild(directory: str | Path, *, formats: Sequence[str] = DEFAULT_FORMATS) -> Path:
    """Write the page of a saved result again, as `write`; return its path."""
    result, made_of = results.read(directory), mark(directory, formats)
    return write(result, directory, formats=formats, made_of=made_of)


def mark(directory: str | Path, formats: Sequence[str]) -> str:
    """The mark of a page made from the result of a folder alone; see `write`."""
    return _made_of([Path(directory) / "result.nc"], formats)


def is_whole(directory: Path) -> bool:
    """Whether the page of a result is there, lacks no part, and was written after the result."""
    page, result = directory / "report.html", directory / "result.nc"
    return _bears(page, "") and page.stat().st_mtime_ns >= result.stat().st_mtime_ns


def rebuild_all(
    *directories: str | Path,
    formats: Sequence[str] = DEFAULT_FORMATS,
    column_titles: bool = True,
    again: bool = True,
    processes: int = 1,
    on_total: Callable[[int], None] = lambda total: None,
) -> Iterator[Path]:
    """Write the pages of all results in some folders again, and those of all heads, layers and corpora.

    The atlas of each page shows what all results of its model say of the heads. `heads.html` has all cards,
    `layers.html` the numbers of every layer, `corpora.html` what heads do on several corpora; each stands in the first
    folder, and is left out where no result has any.

    * `formats`, `column_titles`: of the figure files, see `write`.
    * `again`: write pages, too, that are made of these results by this program already.
    * `processes`: how many processes write pages of results; each reads the results itself.
    * `on_total`: called with the number of results, once they are found.

    Returns: the paths of the pages, also of those that are left as they are.

    Raises `HeadscopeError` if a folder has no result, one cannot be read, or it cannot be written to.
    """
    pages = _Pages(directories, tuple(formats), column_titles)
    on_total(len(pages.results))
    stale = [path for path in pages.results if again or not _bears(path.with_name("report.html"), pages.made_of(path))]
    written = iter(
        _in_processes(pages, stale, processes) if min(processes, len(stale)) > 1 else map(pages.write, stale)
    )
    for path in pages.results:
        yield next(written) if path in stale else path.with_name("report.html")
    yield from pages.of_all_results(again)


@dataclass(frozen=True)
class _Pages:
    """The results of some folders, and the pages that are made of them; `formats`, `column_titles`: of the figures."""

    directories: tuple[str | Path, ...]
    formats: tuple[str, ...]
    column_titles: bool

    @cached_property
    def results(self) -> dict[Path, xr.Dataset]:
        """The results by their paths."""
        return read_all(self.directories)

    @cached_property
    def models(self) -> list[MeasuredModel]:
        """The models that the results are about."""
        return models_in(self.results)

    def write(self, path: Path) -> Path:
        """Write the page of a result; return its path."""
        others, made_of = self._others(path), self.made_of(path)
        with staying_in(path.parent):
            how: dict[str, Any] = {"formats": self.formats, "column_titles": self.column_titles}
            return write(self.results[path], path.parent, others=others, made_of=made_of, **how)

    def made_of(self, path: Path) -> str:
        """What the page of a result is made of; see `_made_of`."""
        titles = [] if self.column_titles else ["no titles in columns"]
        return _made_of([path, *(other.path for other in self._others(path))], [*self.formats, *titles])

    def of_all_results(self, again: bool) -> Iterator[Path]:
        """Write the pages of all heads, layers and corpora, unless they are made of these results; their paths."""
        folder, made_of = Path(self.directories[0]), _made_of(list(self.results), self.formats)
        with_heads = [model for model in self.models if len(model.numbers)]
        if with_heads:
            page = folder / "heads.html"
            yield write_heads(with_heads, folder, made_of=made_of) if again or not _bears(page, made_of) else page
        if any(model.layers for model in self.models):
            page = folder / "layers.html"
            if again or not _bears(page, made_of):
                write_layers(self.models, folder, made_of=made_of)
            yield page
        page = folder / "corpora.html"
        if not again and _bears(page, made_of):
            yield page
        elif page := write_corpora(self.models, folder, made_of=made_of):
            yield page

    def _others(self, path: Path) -> list[Source]:
        """The other results of the first model that a result is about."""
        mine = (model.sources for model in self.models if path in [source.path for source in model.sources])
        return [source for source in next(mine, ()) if source.path != path]


_pages_of = cache(_Pages)  # of a process that writes pages: it reads the results once


def _in_processes(pages: _Pages, stale: Sequence[Path], processes: int) -> Iterator[Path]:
    """Write some pages in processes of their own, which are started anew: no thread of this one is copied."""
    write_one = partial(_written, pages.directories, pages.formats, pages.column_titles)
    pool = ProcessPoolExecutor(
        min(processes, len(stale)),
        multiprocessing.get_context("spawn"),
        initializer=signal.signal,  # Ctrl-C is the parent's
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        yield from pool.map(write_one, stale)
    except BrokenProcessPool as error:
        raise HeadscopeError("a process that writes pages has ended; if memory is short, name fewer folders") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _written(directories: tuple[str | Path, ...], formats: tuple[str, ...], column_titles: bool, path: Path) -> Path:
    return _pages_of(directories, formats, column_titles).write(path)


def _made_of(paths: Sequence[Path], formats: Sequence[str]) -> str:
    """A hash of what a page is made of: the files of the results, the formats of its figures, the program."""
    files = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return sha256(json.dumps([files, list(formats), missing("vl_convert"), _program()]).encode()).hexdigest()


@cache
def _program() -> tuple[str, int]:
    """The version of the program, and when a file of it was changed last."""
    files = (path for path in catalog.ROOT.rglob("*") if path.suffix in PARTS and path.is_file())
    return __version__, max(path.stat().st_mtime_ns for path in files)


def _bears(page: Path, made_of: str) -> bool:
    """Whether a page is there that bears the mark; if that is empty, any mark."""
    if not page.is_file():
        return False
    with page.open(encoding="utf-8", errors="replace") as text:
        return f'<meta name="made-of" content="{made_of}' in text.read(HEAD)
