"""Atlas: all heads of a model as small attention maps, layers by heads, each framed by what it does."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from headscope.figures.theme import INK, finished, ticks
from headscope.figures.tidy import inline


@dataclass(frozen=True, slots=True)
class AtlasCell:
    """A head of an atlas.

    * `image`: the address of the image of its map.
    * `kind`: the group of what it does, which gives the frame its colour; `word`: what it does, under the map.
    """

    layer: int
    head: int
    image: str
    kind: str
    word: str


def atlas(cells: Sequence[AtlasCell], colours: dict[str, str], title: str, *, cell: int = 60) -> alt.LayerChart:
    """Small maps of all heads as one chart: frames and labels are drawn, maps are images.

    * `colours`: the frame of each kind, in the order of the legend.
    * `cell`: the side of a map, in pixels.

    >>> one = AtlasCell(1, 1, "data:image/png;base64,", "previous", "previous")
    >>> atlas([one], {"previous": "#d55e00"}, "minilm").layer[0].mark.type
    'image'
    """
    layers, heads = max(one.layer for one in cells), max(one.head for one in cells)
    rows = [asdict(one) for one in cells]
    base = alt.Chart(inline(rows)).encode(**_places(layers, heads))
    kinds = [kind for kind in colours if any(one.kind == kind for one in cells)]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds]),
        legend=alt.Legend(title=None, orient="bottom", columns=6, symbolType="square"),
    )
    image = base.mark_image(width=cell, height=cell).encode(url=alt.Url("image:N"))
    frame = base.mark_square(size=cell**2, filled=False, strokeWidth=2).encode(color=colour)
    word = base.mark_text(dy=cell / 2 + 8, fontSize=9, color=INK).encode(text=alt.Text("word:N"))
    chart = alt.layer(image, frame, word).properties(width=heads * (cell + 6), height=layers * (cell + 20))
    description = f"{title}: {layers} layers of {heads} heads; " + "; ".join(
        f"{kind}: {sum(one.kind == kind for one in cells)}" for kind in kinds
    )
    return finished(chart, title, description)


def _places(layers: int, heads: int) -> dict[str, Any]:
    axis: dict[str, Any] = {"domain": False, "ticks": False, "grid": False}
    x = alt.X("head:O", title="Head", axis=alt.Axis(orient="top", labelAngle=0, values=ticks(heads), **axis))
    y = alt.Y("layer:O", title="Layer", axis=alt.Axis(values=ticks(layers), **axis))
    return {"x": x, "y": y}
