"""Choice of the reader of a source."""

import os
from pathlib import Path

from headscope import catalog
from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import suffix
from headscope.errors import HeadscopeError, suggest


def tell(source: str, options: Options) -> tuple[str, str]:
    """The kind of a source, and the source without its kind.

    `options.kind` comes first, then a kind before a colon, then the suffix.

    Raises `HeadscopeError` if the kind is unknown or cannot be told.

    >>> tell("hub:nyu-mll/glue:mrpc", Options())
    ('hub', 'nyu-mll/glue:mrpc')
    >>> tell("dev.tsv.gz", Options())
    ('table', 'dev.tsv.gz')
    """
    kinds = catalog.names("corpora/readers")
    prefix, _, rest = source.partition(":")
    if options.kind and options.kind not in kinds:
        raise HeadscopeError(f"corpus kind '{options.kind}' is unknown; {suggest(options.kind, kinds)}")
    if prefix in kinds and options.kind in (None, prefix):
        return prefix, rest or source
    return options.kind or _by_suffix(source, kinds), source


def existing(source: str, options: Options) -> list[str]:
    """The source itself, once it is known to be a file.

    Raises `HeadscopeError` with near-miss names of its folder if it is not.
    """
    path = Path(source)
    if path.is_file():
        return [source]
    if path.is_dir():
        raise HeadscopeError(
            f"corpus '{source}' is a folder; name a file of it, or its --kind: table, glue, hub or penn"
        )
    if os.path.lexists(source):
        raise HeadscopeError(f"corpus '{source}' is a pipe, a device or a link that leads nowhere; name a plain file")
    there = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    hint = suggest(path.name, sorted(there), remedy="name a file, or 'sample'")
    raise HeadscopeError(f"corpus '{source}' does not exist; {hint}")


def in_folder(source: str, pattern: str) -> list[str]:
    """The files of a folder whose names fit a pattern, in the order of their names; none if it is no folder.

    Raises `OSError` if the folder cannot be listed.
    """
    folder = Path(source)
    return [str(path) for path in sorted(folder.iterdir()) if path.match(pattern)] if folder.is_dir() else []


def _by_suffix(source: str, kinds: list[str]) -> str:
    suffixes = {ending: kind for kind in kinds for ending in catalog.load("corpora/readers", kind).SUFFIXES}
    if suffix(source) in suffixes:
        return suffixes[suffix(source)]
    existing(source, Options())
    raise HeadscopeError(
        f"corpus '{source}': suffix '{suffix(source)}' is none of {', '.join(suffixes)}; "
        f"name its kind with --kind: {', '.join(kinds)}"
    )
