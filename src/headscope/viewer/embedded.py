"""The data of a view for a page without a server: the answers of the server by their paths."""

from base64 import b64encode
from collections.abc import Iterator
from itertools import product
from typing import Any

from headscope.viewer import tiles
from headscope.viewer.session import ViewSession
from headscope.viewer.text_maps import MOST_WORDS
from headscope.viewer.view_state import ViewState

MOST_BYTES = 12 << 20
USUAL = ("relation", "previous", "next")


def embedded(session: ViewSession, text: str, state: ViewState, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The data that `embeddedSource` of source.js reads: `{"json": {path: value}, "bytes": {path: base64}}`.

    All heads are small in the overview. The chosen heads come whole; then come the maps and cards of other heads until
    there are `most_bytes` in all.
    """
    kept = session.kept(text)
    model = session.description() | {"examples_by": [], "exports": []}  # these need a server
    answers = {"api/model": model, "api/text": session.text(kept.first, kept.second)}
    data: dict[str, dict[str, Any]] = {"json": answers, "bytes": {}}
    for number in range(len(kept.maps)):
        data["json"][f"api/numbers?model={number}"] = session.numbers(number)
        data["bytes"][f"api/overview/{text}?model={number}"] = _base64(session.overview(text, number))
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
    heads = [(layer, head) for layer, number in enumerate(maps.heads, 1) for head in range(1, number + 1)]
    chosen = [head for head in heads if head in (state.heads or usual_heads(session))]
    others = [head for head in heads if head not in chosen]
    for group in (chosen, others):
        for model, zoom in product(range(len(session.kept(text).maps)), reversed(range(maps.zooms))):
            for head in group:
                yield from _tiles(session, text, head, zoom, model)
        for model in range(len(session.kept(text).maps)):
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


def usual_heads(session: ViewSession) -> tuple[tuple[int, int], ...]:
    """The head that a view without a chosen head shows: the first with a relation or a neighbour, else 1-1."""
    kinds = [(layer, head) for layer, head, kind, _ in session.numbers()["kinds"] if kind in USUAL]
    return (kinds[0] if kinds else (1, 1),)


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
