"""A view as a file: an HTML file that needs no server, no network and no file beside it, or a picture for a paper.

A font of this machine may lack characters of a PDF or PNG picture; these are said.
"""

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jinja2

from headscope.catalog import missing
from headscope.errors import HeadscopeError, suggest
from headscope.figures.export import of_svg, svg
from headscope.figures.theme import FONT
from headscope.report.render import digest, joined, script_json
from headscope.results.variables import places
from headscope.storage.files import write_atomically
from headscope.viewer import tiles
from headscope.viewer.pictures import picture
from headscope.viewer.session import ViewSession
from headscope.viewer.text_maps import MOST_WORDS
from headscope.viewer.view_state import ViewState, parse_state

MEDIA_TYPES = {"html": "text/html", "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
NO_CHARACTER = "\U0010fffe"  # Unicode promises that it never becomes one
NAMED = 12
MOST_BYTES = 12 << 20  # of the data of a page without a server


@dataclass(frozen=True)
class ExportedFile:
    """The content of a file, and a line about what it lacks; "" where it is whole."""

    content: bytes
    notice: str = ""


def exported(session: ViewSession, text: str, state: str, format: str) -> ExportedFile:
    """A view of a text that the session keeps, as the content of a file in a format: "html", "svg", "pdf" or "png".

    Raises `HeadscopeError` as `format_of`, for a wrong state, and for a picture of a view that has none.
    """
    format_of(f".{format}")
    if format == "html":
        return ExportedFile(offline_page(session, text, state).encode())
    drawn = svg(picture(session, text, parse_state(state)).to_dict(validate=False))
    return ExportedFile(of_svg(drawn, format), "" if format == "svg" else glyph_notice(drawn))


def format_of(path: str | Path) -> str:
    """The format of a file, by its suffix.

    Raises `HeadscopeError` for one that is unknown, and for a picture without vl-convert.

    >>> format_of("view.PDF")
    'pdf'
    """
    format = str(path).rpartition(".")[2].casefold()
    if format not in MEDIA_TYPES:
        raise HeadscopeError(f"format '{format[:20]}' is unknown; {suggest(format[:20], MEDIA_TYPES)}")
    if format != "html" and (line := missing("vl_convert")):
        raise HeadscopeError(line)
    return format


def export_file(
    session: ViewSession, text: str, path: str | Path, state: str = "", on_notice: Callable[[str], None] = warnings.warn
) -> Path:
    """Write a view to a file, whole or not at all; the suffix of its name is the format. Returns: the path.

    * `on_notice`: called with a line about characters that the file lacks; by default it is a warning.

    Raises `HeadscopeError` as `exported`, or if the file cannot be written.
    """
    path = Path(path)
    file = exported(session, text, state, format_of(path))
    if file.notice:
        on_notice(file.notice)
    return write_atomically(path, file.content)


TEMPLATE = Path(__file__).parent / "templates" / "offline.html"


def offline_page(
    session: ViewSession, text: str, state: str = "", *, height: int | None = None, most_bytes: int = MOST_BYTES
) -> str:
    """The page of a text that the session keeps. All text is escaped, and only the page's own script may run.

    * `height`: of the picture of a head, in pixels, in a page for a frame, which has no heading.

    Raises `HeadscopeError` for a state that is wrong, `Missing` for a text that is not kept.
    """
    data = embedded(session, text, parse_state(state), most_bytes)
    names = [model["name"] for model in data["json"]["api/model"]["models"]]
    content, styles = script("page.js"), style()
    template = jinja2.Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=session.training or " and ".join(names),
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


def without_glyph(picture: str) -> str:
    """The characters of an SVG picture that vl-convert draws as a box, each once, in their order.

    vl-convert does not tell which fonts it has found: each character is drawn, and compared with one that no font has.

    >>> without_glyph("<svg><text>café → 1</text></svg>")
    ''
    """
    letters = dict.fromkeys("".join(ElementTree.fromstring(picture).itertext()))
    box = _drawn(NO_CHARACTER)
    return "".join(letter for letter in letters if not letter.isascii() and _drawn(letter) == box)


def glyph_notice(picture: str) -> str:
    """The line about the boxes of an SVG picture in a PDF or PNG file, and the remedy; "" without any."""
    boxes = without_glyph(picture)
    if not boxes:
        return ""
    more = f" and {len(boxes) - NAMED} more" if len(boxes) > NAMED else ""
    return (
        f"no font of this machine has the characters {boxes[:NAMED]}{more}: the picture has boxes in their place; "
        "install a font that has them (of Noto, for example), or save an .svg, which has the fonts of whoever opens it"
    )


def _drawn(letter: str) -> bytes:
    """A PNG picture of a character."""
    import vl_convert

    text = f'<text x="8" y="24" font-size="16" font-family="{FONT}">{escape(letter)}</text>'
    return vl_convert.svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32">{text}</svg>')


def embedded(session: ViewSession, text: str, state: ViewState, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The data that `embeddedSource` of source.js reads: `{"json": {path: value}, "bytes": {path: base64}}`.

    All heads are small in the overview. The chosen heads come whole; then come the maps and cards of other heads until
    there are `most_bytes` in all.
    """
    kept = session.kept(text)
    model = session.description() | {"examples_by": [], "exports": []}  # these need a server
    answers = {"api/model": model, "api/text": session.text(kept.first, kept.second, kept.against)}
    data: dict[str, dict[str, Any]] = {"json": answers, "bytes": {}}
    for number in range(len(kept.maps)):
        path = f"api/overview/{text}?model={number}"
        data["bytes"][path] = _base64(session.overview(text, number))
        if kept.changes:
            data["bytes"][f"{path}&shared=1"] = _base64(session.overview(text, number, 1))
    for number in range(len(model["models"])):
        data["json"][f"api/numbers?model={number}"] = session.numbers(number)
    left = most_bytes
    for path, content in _of_heads(session, text, state):
        left -= len(content)
        if left < 0:
            break
        kind, value = ("json", content) if isinstance(content, str) else ("bytes", _base64(content))
        data[kind][path] = value
    return data


def _of_heads(session: ViewSession, text: str, state: ViewState) -> Iterator[tuple[str, str | bytes]]:
    """Maps, cards and panels: the chosen heads, what layers know, the other heads; coarse maps before fine ones."""
    maps = session.maps(text)
    for head in state.heads:
        session.refuse_head(maps, *head)
    heads = places(maps.heads)
    chosen = [head for head in heads if head in (state.heads or session.usual_heads())]
    others = [head for head in heads if head not in chosen]
    for group in (chosen, others):
        for model, zoom in product(range(len(session.kept(text).maps)), reversed(range(maps.zooms))):
            for head in group:
                yield from _tiles(session, text, head, zoom, model)
        for model in range(len(session.description()["models"])):
            measured = session.results_of(model)
            for layer, head in [head for head in group if measured and head in measured.heads]:
                yield f"api/card/{layer}/{head}?model={model}", session.card(layer, head, model)
            if group is chosen:
                for number in range(len(session.numbers(model)["panels"])):
                    yield f"api/panel/{number}?model={model}", session.panel(number, model)


def _tiles(
    session: ViewSession, text: str, head: tuple[int, int], zoom: int, model: int
) -> Iterator[tuple[str, bytes]]:
    """The tiles of a head at a zoom; with the finest, the map between words."""
    maps = session.maps(text, model)
    if zoom >= maps.zooms or head[0] > len(maps.heads) or head[1] > maps.heads[head[0] - 1]:
        return
    path = f"{text}/{head[0]}/{head[1]}"
    side = -(-len(maps.text) // (tiles.TILE << zoom))
    for row, column in product(range(side), repeat=2):
        content = session.tile(text, *head, zoom, row, column, model)
        yield f"api/tile/{path}/{zoom}/{row}/{column}?model={model}", content
    if not zoom and len(maps.text.words) <= MOST_WORDS:
        yield f"api/words/{path}?model={model}", session.words(text, *head, model)


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
