"""Modules of pages as one script, for pages and widgets without a server."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

STATIC = Path(__file__).parent / "static"  # the modules that all pages share
IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async |function |const |class )", re.MULTILINE)


def joined(*entries: Path) -> str:
    """Modules and all that they import as one script, each once and after its own imports.

    The modules keep to rules that make this possible: imports of one line that rename nothing, and top-level names that
    are unique among all modules.

    >>> "import " in joined(STATIC / "kind_legend.js") or "export " in joined(STATIC / "kind_legend.js")
    False
    """
    return "\n".join(_in_order(entries, set()))


def _in_order(paths: Iterable[Path], done: set[Path]) -> Iterator[str]:
    for path in paths:
        if path not in done:
            done.add(path)
            text = path.read_text(encoding="utf-8")
            yield from _in_order([_imported(path.parent, name) for name in IMPORT.findall(text)], done)
            yield EXPORT.sub("", IMPORT.sub("", text))


def _imported(folder: Path, name: str) -> Path:
    """A module beside the one that imports it, or else one of those that all pages share."""
    return folder / name if (folder / name).is_file() else STATIC / name
