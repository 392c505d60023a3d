"""A view as a file: an offline page, or a picture for a paper."""

from pathlib import Path

from headscope.errors import HeadscopeError, suggest
from headscope.figures.export import of_svg, svg
from headscope.storage.files import write_atomically
from headscope.viewer.offline_page import offline_page
from headscope.viewer.pictures import picture
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import parse_state

MEDIA_TYPES = {"html": "text/html", "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def exported(session: ViewSession, text: str, state: str, format: str) -> bytes:
    """A view of a text that the session keeps, as the content of a file.

    * `text`: the identifier of the text; `state`: the fragment of the view's address.
    * `format`: "html", "svg", "pdf" or "png".

    Raises `HeadscopeError` for an unknown format or a wrong state, for a picture of a view that has none, or of one
    without vl-convert.
    """
    if format not in MEDIA_TYPES:
        raise HeadscopeError(f"format '{format[:20]}' is unknown; {suggest(format[:20], MEDIA_TYPES)}")
    if format == "html":
        return offline_page(session, text, state).encode()
    return of_svg(svg(picture(session, text, parse_state(state)).to_dict(validate=False)), format)


def export_file(session: ViewSession, text: str, path: str | Path, state: str = "") -> Path:
    """Write a view to a file, whole or not at all; the suffix of its name is the format. Returns: the path.

    Raises `HeadscopeError` as `exported`, or if the file cannot be written.
    """
    path = Path(path)
    return write_atomically(path, exported(session, text, state, path.suffix.removeprefix(".").casefold()))
