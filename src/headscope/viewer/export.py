"""A view as a file: one HTML file that needs no server, no network and no file beside it, or a picture for a paper."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jinja2

from headscope.errors import HeadscopeError, suggest
from headscope.figures.export import of_svg, svg
from headscope.figures.glyphs import glyph_notice
from headscope.report.render import digest, joined, script_json
from headscope.storage.files import write_atomically
from headscope.viewer.embedded import MOST_BYTES, embedded
from headscope.viewer.pictures import picture
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import parse_state

MEDIA_TYPES = {"html": "text/html", "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


@dataclass(frozen=True)
class ExportedFile:
    """The content of a file, and a line about what it lacks; "" where it is whole."""

    content: bytes
    notice: str = ""


def exported(session: ViewSession, text: str, state: str, format: str) -> ExportedFile:
    """A view of a text that the session keeps, as the content of a file.

    * `text`: the identifier of the text; `state`: the fragment of the view's address.
    * `format`: "html", "svg", "pdf" or "png".

    Raises `HeadscopeError` for an unknown format or a wrong state, for a picture of a view that has none, or of one
    without vl-convert.
    """
    if format not in MEDIA_TYPES:
        raise HeadscopeError(f"format '{format[:20]}' is unknown; {suggest(format[:20], MEDIA_TYPES)}")
    if format == "html":
        return ExportedFile(offline_page(session, text, state).encode())
    drawn = svg(picture(session, text, parse_state(state)).to_dict(validate=False))
    return ExportedFile(of_svg(drawn, format), "" if format == "svg" else glyph_notice(drawn))


def export_file(
    session: ViewSession, text: str, path: str | Path, state: str = "", on_notice: Callable[[str], None] = warnings.warn
) -> Path:
    """Write a view to a file, whole or not at all; the suffix of its name is the format. Returns: the path.

    * `on_notice`: called with a line about characters that the file lacks; by default it is a warning.

    Raises `HeadscopeError` as `exported`, or if the file cannot be written.
    """
    path = Path(path)
    made = exported(session, text, state, path.suffix.removeprefix(".").casefold())
    if made.notice:
        on_notice(made.notice)
    return write_atomically(path, made.content)


TEMPLATE = Path(__file__).parent / "templates" / "offline.html"


def offline_page(
    session: ViewSession, text: str, state: str = "", *, height: int | None = None, most_bytes: int = MOST_BYTES
) -> str:
    """The page of a text that the session keeps. All text is escaped, and only the page's own script may run.

    * `state`: the fragment of the view's address; see `parse_state`.
    * `height`: of the picture of a head, in pixels, in a page for a frame, which has no heading.
    * `most_bytes`: of maps and cards; see `embedded`.

    Raises `HeadscopeError` for a state that is wrong, `Missing` for a text that is not kept.
    """
    data = embedded(session, text, parse_state(state), most_bytes)
    names = [model["name"] for model in data["json"]["api/model"]["models"]]
    content, styles = script("page.js"), style()
    template = jinja2.Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=" and ".join(names),
        height=height,
        state=state.removeprefix("#"),
        json=script_json(data),
        script=content,
        style=styles,
        script_digest=digest(content),
        style_digest=digest(styles),
    )


STATIC = Path(__file__).parent / "static"


def script(entry: str) -> str:
    """A module of the page and all that it imports, as one script."""
    return joined(STATIC / entry)


def style() -> str:
    """The style sheet of the page."""
    return (STATIC / "viewer.css").read_text(encoding="utf-8")
