"""A view as the output of a notebook's cell: a widget, and beside it a page in a frame that needs no kernel."""

from html import escape
from typing import Any
from uuid import uuid4

from headscope.extras import require
from headscope.viewer.embedded import embedded
from headscope.viewer.modules import joined, style
from headscope.viewer.offline_page import offline_page
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import parse_state

MOST_BYTES = 4 << 20  # a notebook holds the data twice
AROUND = 480  # pixels of a page around the picture of a head
# The widget hides the frame of the same view, which a front end without widgets shows in its place.
RENDER = """
export default {
  render({ model, el }) {
    const frame = document.getElementById(model.get("frame"));
    if (frame) frame.hidden = true;
    const viewer = mount(el, embeddedSource(model.get("data")), model.get("state"), {
      height: model.get("height"),
      onState: (state) => { model.set("state", state); model.save_changes(); },
    });
    const change = () => { if (model.get("state") !== viewer.state()) viewer.setState(model.get("state")); };
    model.on("change:state", change);
    return () => { model.off("change:state", change); viewer(); };
  },
};
"""


class FramedView:
    """A view as a page in a frame: it stays in a saved notebook, and needs neither a kernel nor a network."""

    def __init__(self, session: ViewSession, text: str, state: str, height: int):
        self._page = offline_page(session, text, state, height=height, most_bytes=MOST_BYTES)
        self.height, self.name = height, f"headscope-{uuid4().hex}"

    def _repr_html_(self) -> str:
        return (
            f'<iframe id="{self.name}" title="headscope: attention of a text" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height + AROUND}px; border: 0" srcdoc="{escape(self._page)}"></iframe>'
        )


def widget(session: ViewSession, text: str, state: str, height: int) -> Any:
    """A view as an anywidget; `widget.state` is the fragment of its state, which may be set.

    Where IPython shows it, the frame of the same view stands above it for a saved notebook; the widget hides it.
    Raises `HeadscopeError` if anywidget is not installed.
    """
    anywidget = require("anywidget")
    import traitlets  # anywidget depends on it and on IPython

    page = FramedView(session, text, state, height)

    class HeadscopeWidget(anywidget.AnyWidget):
        _esm = joined("main.js", "source.js") + RENDER
        _css = style()
        data = traitlets.Dict().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        frame = traitlets.Unicode().tag(sync=True)

        def _ipython_display_(self) -> None:
            from IPython.display import display

            display({"text/html": page._repr_html_()}, raw=True)
            display(self._repr_mimebundle_()[0], raw=True)

    data = embedded(session, text, parse_state(state), MOST_BYTES)
    return HeadscopeWidget(data=data, state=state.removeprefix("#"), height=height, frame=page.name)
