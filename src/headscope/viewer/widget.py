"""A view as the output of a notebook's cell: a widget, and beside it a page in a frame that needs no kernel."""

from html import escape
from typing import Any
from uuid import uuid4

from headscope.catalog import require
from headscope.viewer.embedded import embedded
from headscope.viewer.export import offline_page, script, style
from headscope.viewer.routes import reply
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import parse_state

MOST_BYTES = 4 << 20  # a notebook holds the data twice
AROUND = 480  # pixels of a page around the picture of a head
RENDER = "export default { render: ({ model, el }) => showWidget(model, el) };\n"


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

    It holds the data of the first text; a kernel answers messages about others (`answers.reply`).
    Where IPython shows it, the frame of the same view stands above it for a saved notebook; the widget hides it.
    Raises `HeadscopeError` if anywidget is not installed.
    """
    anywidget = require("anywidget")
    import traitlets  # anywidget depends on it and on IPython

    page = FramedView(session, text, state, height)

    class HeadscopeWidget(anywidget.AnyWidget):
        _esm = script("widget.js") + RENDER
        _css = style()
        data = traitlets.Dict().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        frame = traitlets.Unicode().tag(sync=True)
        live = traitlets.Bool().tag(sync=True)

        def _ipython_display_(self) -> None:
            from IPython.display import display

            display({"text/html": page._repr_html_()}, raw=True)
            display(self._repr_mimebundle_()[0], raw=True)

    data, live = embedded(session, text, parse_state(state), MOST_BYTES), bool(session.models)
    view = HeadscopeWidget(data=data, state=state.removeprefix("#"), height=height, frame=page.name, live=live)

    def answer(widget: Any, request: dict[str, Any], buffers: Any) -> None:
        content, sent = reply(session, request)
        widget.send(content | {"request": request.get("request")}, sent)

    view.on_msg(answer)
    return view
