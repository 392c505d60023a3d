"""The pages of saved results, written again."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from headscope import catalog, results
from headscope.extras import missing
from headscope.figures.export import DEFAULT_FORMATS
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import Source, models_in, read_all
from headscope.report.heads_page import write_heads
from headscope.report.layers_page import write_layers
from headscope.report.result_page import write
from headscope.version import __version__

PARTS = (".py", ".html", ".css", ".js")
HEAD = 4000  # characters of a page that its mark stands in


def rebuild(
    directory: str | Path,
    *,
    formats: Sequence[str] = DEFAULT_FORMATS,
    on_figure: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write the page of a saved result again; return its path. `formats` and `on_figure` as for `write`.

    Raises `HeadscopeError` if the folder has no result or cannot be written to.
    """
    return write(results.read(directory), directory, formats=formats, on_figure=on_figure)


def rebuild_all(
    *directories: str | Path,
    formats: Sequence[str] = DEFAULT_FORMATS,
    again: bool = True,
    on_total: Callable[[int], None] = lambda total: None,
) -> Iterator[Path]:
    """Write the pages of all results in some folders again, `heads.html` and `layers.html` in the first of these.

    The atlas of each page shows what all results of its model say of the heads. `heads.html` has all cards,
    `layers.html` the numbers of every layer; each is left out where no result has any.

    * `again`: write pages, too, that are made of these results by this program already.
    * `on_total`: called with the number of results, once they are found.

    Returns: the paths of the pages, also of those that are left as they are.

    Raises `HeadscopeError` if a folder has no result, one cannot be read, or it cannot be written to.
    """
    found = read_all(directories)
    on_total(len(found))
    models = models_in(found)
    for path, result in found.items():
        others = _others(models, path)
        made_of, page = _made_of([path, *(other.path for other in others)], formats), path.with_name("report.html")
        if again or not _bears(page, made_of):
            page = write(result, path.parent, others=others, formats=formats, made_of=made_of)
        yield page
    if with_heads := [model for model in models if len(model.numbers)]:
        yield write_heads(with_heads, Path(directories[0]))
    if page := write_layers(models, Path(directories[0])):
        yield page


def _others(models: Sequence[MeasuredModel], path: Path) -> list[Source]:
    """The other results of the first model that a result is about."""
    sources = next((model.sources for model in models if path in [source.path for source in model.sources]), ())
    return [source for source in sources if source.path != path]


def _made_of(paths: Sequence[Path], formats: Sequence[str]) -> str:
    """What a page is made of, as a hash: the files of the results, the formats of its figures, the program."""
    files = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return sha256(json.dumps([files, list(formats), missing("vl_convert"), _program()]).encode()).hexdigest()


@cache
def _program() -> tuple[str, int]:
    """The version of the program, and when a file of it was changed last."""
    files = (path for path in catalog.ROOT.rglob("*") if path.suffix in PARTS and path.is_file())
    return __version__, max(path.stat().st_mtime_ns for path in files)


def _bears(page: Path, made_of: str) -> bool:
    """Whether a page is there that bears the mark."""
    if not page.is_file():
        return False
    with page.open(encoding="utf-8", errors="replace") as text:
        return f'content="{made_of}"' in text.read(HEAD)
