"""The modules of the page as one script, for pages and widgets without a server."""

import re
from collections.abc import Iterator
from pathlib import Path

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async |function |const |class )", re.MULTILINE)


def joined(*entries: str) -> str:
    """Modules and all that they import as one script, each once and after its own imports.

    The modules keep to rules that make this possible: imports of one line that rename nothing, and top-level names that
    are unique among all modules.

    >>> "import " in joined("palette.js") or "export " in joined("palette.js")
    False
    """
    return "\n".join(_in_order(entries, set()))


def style() -> str:
    """The style sheet of the page."""
    return (STATIC / "viewer.css").read_text(encoding="utf-8")


def _in_order(names: tuple[str, ...] | list[str], done: set[str]) -> Iterator[str]:
    for name in names:
        if name not in done:
            done.add(name)
            text = (STATIC / name).read_text(encoding="utf-8")
            yield from _in_order(IMPORT.findall(text), done)
            yield EXPORT.sub("", IMPORT.sub("", text))
