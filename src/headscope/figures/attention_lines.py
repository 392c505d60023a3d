"""Attention of one text as lines between two columns of tokens; heads differ by colour."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headscope.figures.theme import CATEGORIES, INK, finished
from headscope.figures.tidy import inline

ROW, WIDTH = 18, 260
FAINTEST = 0.02  # attention that is not drawn
FEW, STRONGEST = 64, (16, 6)  # tokens of a short text; lines of a token in a short and in a long text


def attention_lines(
    maps: Mapping[str, Float[np.ndarray, "query key"]], queries: Sequence[str], keys: Sequence[str], title: str
) -> alt.LayerChart:
    """Lines from each token (left) to the tokens that it attends to most (right); a strong line is much attention.

    * `maps`: attention by the name of a head; `queries`, `keys`: the texts of its rows and columns.

    >>> chart = attention_lines({"8-10": np.array([[0.9, 0.1]])}, ["it"], ["the", "cat"], "Lines")
    >>> [layer.mark.type for layer in chart.layer]
    ['rule', 'text', 'text']
    """
    lines = [line for name, weights in maps.items() for line in _lines(name, weights)]
    height = ROW * max(len(queries), len(keys))
    y = alt.Y("query:Q", axis=None, scale=alt.Scale(domain=[0, height / ROW], range=[0, height]))
    colours = alt.Scale(domain=list(maps), range=list(CATEGORIES))
    legend = alt.Legend(title="Head", orient="top", symbolType="stroke") if len(maps) > 1 else None
    strength = partial(alt.Scale, domain=[0, 1])
    rules = (
        alt.Chart(inline(lines))
        .mark_rule(aria=False, strokeCap="round")
        .encode(
            x=_x("from:Q"),
            x2=alt.X2("to:Q"),
            y=y,
            y2=alt.Y2("key:Q"),
            color=alt.Color("head:N", scale=colours, legend=legend),
            strokeWidth=alt.StrokeWidth("strength:Q", scale=strength(range=[0.5, 3]), legend=None),
            # not the opacity of the mark: each line would be a layer of its own, and a PNG takes half a minute
            strokeOpacity=alt.StrokeOpacity("strength:Q", scale=strength(range=[0.1, 1]), legend=None),
            tooltip=["head:N", alt.Tooltip("value:Q", title="attention", format=".4f")],
        )
    )
    chart = alt.layer(rules, _names(queries, y, left=True), _names(keys, y, left=False))
    words = f"{title}: lines of {', '.join(maps)} between the tokens {' '.join(queries)}"
    return finished(chart.properties(width=WIDTH, height=height), title, words)


def _lines(name: str, weights: Float[np.ndarray, "query key"]) -> list[dict[str, Any]]:
    """The strongest lines of each query; the strength of a line is relative to the largest attention of the head."""
    most, number = float(weights.max()) or 1.0, STRONGEST[len(weights) > FEW]
    return [
        {"head": name, "from": 0, "to": 1, "query": query + 0.5, "key": int(key) + 0.5}
        | {"value": float(row[key]), "strength": float(row[key]) / most}
        for query, row in enumerate(weights)
        for key in np.argsort(-row, kind="stable")[:number]
        if row[key] >= FAINTEST
    ]


def _names(tokens: Sequence[str], y: alt.Y, *, left: bool) -> alt.Chart:
    """A column of tokens."""
    rows = [{"query": index + 0.5, "token": token, "side": 0 if left else 1} for index, token in enumerate(tokens)]
    mark = alt.Chart(inline(rows)).mark_text(
        align="right" if left else "left", dx=-6 if left else 6, color=INK, limit=160, aria=False
    )
    return mark.encode(x=_x("side:Q"), y=y, text=alt.Text("token:N"))


def _x(field: str) -> alt.X:
    return alt.X(field, axis=None, scale=alt.Scale(domain=[0, 1]))
