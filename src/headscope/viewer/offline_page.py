"""A view as one HTML file that needs no server, no network and no file beside it."""

from pathlib import Path

import jinja2

from headscope.report.chart_data import digest, script_json
from headscope.viewer.embedded import MOST_BYTES, embedded
from headscope.viewer.modules import script, style
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import parse_state

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
