"""A view as the output of a notebook's cell: a widget, beside it a page in a frame that needs no kernel.

The typical inputs of a result are texts of such a view: their maps are stored, no model is needed.
"""

import re
from html import escape
from typing import Any
from uuid import uuid4

import numpy as np
import xarray as xr

from headscope.catalog import require
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.report.atlas import InputTokens, typical_tokens
from headscope.report.cards.model_results import model_of
from headscope.viewer import tiles
from headscope.viewer.export import embedded, offline_page, script, style
from headscope.viewer.kept_texts import KeptText, identifier
from headscope.viewer.routes import reply
from headscope.viewer.session import ViewSession
from headscope.viewer.text_maps import TextMaps
from headscope.viewer.text_tokens import TextTokens, TextWord
from headscope.viewer.view_state import parse_state

MOST_BYTES = 4 << 20  # a notebook holds the data twice
AROUND = 480  # pixels of a page around the picture of a head
RENDER = "export default { render: ({ model, el }) => showWidget(model, el) };\n"
# A token that a tokenizer adds, as most of them write it.
SPECIAL = re.compile(r"\[[A-Z]+\]|<[^<> ]+>|<\|[^|]+\|>")


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

    It holds the data of the first text; a kernel answers messages about others (`routes.reply`).
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


def result_session(result: xr.Dataset, number: int = 0) -> tuple[ViewSession, str]:
    """A session that shows a typical input of a result, from 0, and the identifier of its text.

    Raises `HeadscopeError` if the result has no maps of typical inputs.
    """
    inputs = result.sizes.get("typical_input", 0) if "typical_map" in result else 0
    if not 0 <= number < inputs:
        raise HeadscopeError(
            f"the result has maps of {inputs} typical inputs; run the study with examples=3, or give a model and a text"
        )
    typical = typical_tokens(result)[number]
    maps, text = _maps(result.isel(typical_input=number), typical), typical.text
    about = {"name": str(result.attrs["model"]), "layers": len(maps.heads), "heads": list(maps.heads)}
    limits = {"max_tokens": len(maps.text), "can_fill_mask": False, "task_labels": []}
    session = ViewSession((), (), (model_of(result),), stored=(about | limits,))
    session.texts.add(KeptText(text, None, (maps,)))
    return session, identifier(text, None)


def _maps(result: xr.Dataset, typical: InputTokens) -> TextMaps:
    """The maps of one typical input; each row in steps of its own maximum."""
    peaks = result["typical_map_maximum"].transpose("layer", "head").values  # [layer, head]; NaN for a head that is not
    heads = tuple(np.isfinite(peaks).sum(1).tolist())
    stored = result["typical_map"].transpose("layer", "head", "typical_query", "typical_key").values
    length = len(typical.tokens)
    maps = stored[:, :, :length, :length] / tiles.LEVELS * np.nan_to_num(peaks)[..., None, None]
    rows = tiles.quantised(maps.reshape(-1, length))  # [layer * head * query, key]
    return TextMaps(_text(typical), heads, rows.maximum.reshape(maps.shape[:3]), rows.levels.reshape(maps.shape))


def _text(typical: InputTokens) -> TextTokens:
    """The tokens of a stored input; which of them are pieces of a word is not stored."""
    nothing = np.empty((0, 3), dtype=np.int64)
    encoded = Encoded(0, {}, np.zeros(len(typical.tokens), dtype=np.int64), nothing[:, :2], nothing)
    words = tuple(TextWord(token, (index,), None) for index, token in enumerate(typical.tokens))
    special = tuple(SPECIAL.fullmatch(token) is not None for token in typical.raw)
    return TextTokens(encoded, typical.tokens, typical.raw, (0,) * len(typical.tokens), special, words, cut=False)
