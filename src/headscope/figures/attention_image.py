"""Attention maps as images: white for no attention, dark for the largest of the map; the atlas of all heads.

Charts of images stay small.
"""

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float, UInt8

from headscope.figures.theme import GREY, INK, RULE, finished, ticks
from headscope.figures.tidy import inline

CELL, SIDE = 14, 600  # pixels of a cell of a labelled map; of the side of a map without labels
LABELLED = 128
DARK, WHITE = (12, 31, 77), 255


def attention_images(
    maps: Mapping[str, Float[np.ndarray, "query key"]], queries: Sequence[str], keys: Sequence[str], title: str
) -> alt.HConcatChart:
    """Maps of heads side by side, queries from top to bottom, each shaded up to its own maximum, which titles it.

    >>> attention_images({"8-10": np.eye(2)}, ["a", "b"], ["a", "b"], "Maps").hconcat[0].title.text
    '8-10, up to 1.00'
    """
    charts = [_map(name, weights, queries, keys) for name, weights in maps.items()]
    return finished(alt.hconcat(*charts, spacing=40), title, f"{title}: maps of the tokens {' '.join(queries)}")


def _map(
    name: str, weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]
) -> alt.LayerChart:
    longest = max(weights.shape)
    cell = CELL if longest <= LABELLED else SIDE / longest
    height, width = (size * cell for size in weights.shape)
    most = float(weights.max())
    levels = np.rint(weights / (most or 1) * 255).astype(np.uint8)
    image = alt.Chart(inline([{"image": map_image(levels)}])).mark_image(
        width=width, height=height, x=0, y=0, align="left", baseline="top", smooth=False, aspect=False
    )
    layers = [image.encode(url=alt.Url("image:N"))]
    if longest <= LABELLED:
        layers += [_labels(queries, cell, across=False), _labels(keys, cell, across=True)]
    heading = alt.TitleParams(f"{name}, up to {most:.2f}", fontSize=12)
    view = alt.ViewBackground(stroke=RULE)
    chart: Any = alt.layer(*layers, view=view)
    return chart.properties(width=width, height=height, title=heading)


def _labels(tokens: Sequence[str], cell: float, *, across: bool) -> alt.Chart:
    """The tokens at the left of a map, or above it."""
    rows = [{"place": (index + 0.5) * cell, "token": token} for index, token in enumerate(tokens)]
    chart = alt.Chart(inline(rows))
    look = {"color": GREY, "fontSize": 10, "limit": 110, "aria": False}
    position = {"axis": None, "scale": alt.Scale(domain=[0, len(tokens) * cell], range=[0, len(tokens) * cell])}
    if across:
        mark = chart.mark_text(align="left", angle=270, y=-5, **look)
        return mark.encode(x=alt.X("place:Q", **position), text=alt.Text("token:N"))
    return chart.mark_text(align="right", x=-5, **look).encode(y=alt.Y("place:Q", **position), text=alt.Text("token:N"))


def map_image(levels: UInt8[np.ndarray, "query key"]) -> str:
    """An attention map as the address of a PNG image, one pixel a cell.

    The darkness of a pixel is the square root of its level: faint attention is visible.

    * `levels`: attention in steps of 0 to 255, 255 for the largest of the map.

    >>> map_image(np.array([[255, 0]], dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(levels)).decode()


def png(levels: UInt8[np.ndarray, "query key"]) -> bytes:
    """An attention map as a PNG file whose palette turns levels into colours."""
    height, width = levels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits a pixel, with a palette
    rows = np.pad(levels, ((0, 0), (1, 0))).tobytes()  # each row begins with the number of its filter: none
    chunks = [(b"IHDR", header), (b"PLTE", palette().tobytes()), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def palette() -> UInt8[np.ndarray, "level 3"]:
    """The colour of each level, from white to dark ink."""
    share = np.sqrt(np.arange(256) / 255)[:, None]
    return np.rint(WHITE + (np.array(DARK) - WHITE) * share).astype(np.uint8)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@dataclass(frozen=True, slots=True)
class AtlasCell:
    """A head of an atlas: the address of its image, the kind that colours its frame, and the word under the map."""

    layer: int
    head: int
    image: str
    kind: str
    word: str


def atlas(cells: Sequence[AtlasCell], colours: dict[str, str], title: str, *, cell: int = 60) -> alt.LayerChart:
    """Small maps of all heads as one chart: frames in the colours of kinds and labels are drawn, maps are images.

    >>> one = AtlasCell(1, 1, "data:image/png;base64,", "previous", "previous")
    >>> atlas([one], {"previous": "#d55e00"}, "minilm").layer[0].mark.type
    'image'
    """
    layers, heads = max(entry.layer for entry in cells), max(entry.head for entry in cells)
    rows = [asdict(entry) for entry in cells]
    base = alt.Chart(inline(rows)).encode(**_places(layers, heads))
    kinds = [kind for kind in colours if any(one.kind == kind for one in cells)]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds]),
        legend=alt.Legend(title=None, orient="bottom", columns=6, symbolType="square"),
    )
    image = base.mark_image(width=cell, height=cell, smooth=False).encode(url=alt.Url("image:N"))
    frame = base.mark_square(size=cell**2, filled=False, strokeWidth=2).encode(color=colour)
    word = base.mark_text(dy=cell / 2 + 8, fontSize=9, color=INK).encode(text=alt.Text("word:N"))
    chart = alt.layer(image, frame, word).properties(
        width=heads * (cell + 6), height=layers * (cell + 20), usermeta={"atlas": [layers, heads]}
    )
    description = f"{title}: {layers} layers of {heads} heads; " + "; ".join(
        f"{kind}: {sum(one.kind == kind for one in cells)}" for kind in kinds
    )
    return finished(chart, title, description)


def _places(layers: int, heads: int) -> dict[str, Any]:
    axis: dict[str, Any] = {"domain": False, "ticks": False, "grid": False}
    x = alt.X("head:O", title="Head", axis=alt.Axis(orient="top", labelAngle=0, values=ticks(heads), **axis))
    y = alt.Y("layer:O", title="Layer", axis=alt.Axis(values=ticks(layers), **axis))
    return {"x": x, "y": y}
