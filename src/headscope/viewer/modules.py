"""The script and the style sheet of the page."""

from pathlib import Path

from headscope.web.modules import joined

STATIC = Path(__file__).parent / "static"


def script(entry: str) -> str:
    """A module of the page and all that it imports, as one script."""
    return joined(STATIC / entry)


def style() -> str:
    """The style sheet of the page."""
    return (STATIC / "viewer.css").read_text(encoding="utf-8")
