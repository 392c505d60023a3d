"""Attention map of one example, or several beside each other: which token looks at which."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.theme import CATEGORIES, GREY, colours, conditional, finished, named
from headscope.figures.tidy import inline, others

Tokens = Sequence[str]
SEPARATOR = "\x1f"
LINKED, OTHER = CATEGORIES[1], "#b8c4ce"


def attention_map(weights: xr.DataArray, tokens: Tokens, *, side: int = 420) -> alt.Chart:
    """Queries from top to bottom, keys from left to right; a row of weights [query, key] sums to 1.

    * `tokens`: in their order, the same one may stand twice; `side`: about how large the map is, in pixels.

    Raises `ValueError` for other dimensions or if the tokens are not as many as the weights.

    >>> weights = xr.DataArray([[0.9, 0.1], [0.5, 0.5]], dims=["query", "key"], name="8-10")
    >>> attention_map(weights, ["the", "the"]).data.values[1]
    {'query': 0, 'key': 1, 'from': 'the', 'to': 'the', 'value': 0.1}
    """
    legend = alt.Legend(title="Attention (share)")
    chart = _chart(weights, tokens, side, alt.Color("value:Q", scale=_scale(1.0), legend=legend))
    return finished(chart, named(weights), _words(tokens))


def attention_maps(maps: Sequence[tuple[xr.DataArray, Tokens]], title: str, *, side: int = 280) -> alt.HConcatChart:
    """Maps as of `attention_map` side by side, each in shades of its own largest value, which its title states.

    >>> weights = xr.DataArray([[0.9, 0.1], [0.5, 0.5]], dims=["query", "key"], name="8-10")
    >>> attention_maps([(weights, ["a", "b"])], "Maps").hconcat[0].title.text
    '8-10, up to 0.90'
    """
    charts = []
    for weights, tokens in maps:
        most = float(weights.max())
        chart = _chart(weights, tokens, side, alt.Color("value:Q", scale=_scale(most), legend=None))
        heading = alt.TitleParams(f"{named(weights)}, up to {most:.2f}", fontSize=12)
        charts.append(chart.properties(title=heading))
    chart = alt.hconcat(*charts).resolve_scale(color="independent")
    return finished(chart, title, f"{title}: {'; '.join(_words(tokens) for _, tokens in maps)}")


def plain_map(weights: xr.DataArray, tokens: Tokens, side: int) -> tuple[alt.Chart, int]:
    """A map in shades of its own largest value, without a title or a legend; and the size of its cells, in pixels."""
    colour = alt.Color("value:Q", scale=_scale(float(weights.max())), legend=None)
    return _chart(weights, tokens, side, colour), _cell(tokens, side)


def tokens_axis(tokens: Tokens, **more: Any) -> alt.Axis:
    """An axis that writes the tokens at their numbers."""
    # One text, split by Vega: a text of its own that reads like a word of its language ("if") would be taken for it.
    written = (
        f"split({json.dumps(''.join(token + SEPARATOR for token in tokens))}, {json.dumps(SEPARATOR)})[datum.value]"
    )
    return alt.Axis(labelExpr=written, domain=False, ticks=False, labelOverlap=False, **more)


def _chart(weights: xr.DataArray, tokens: Tokens, side: int, colour: alt.Color) -> alt.Chart:
    if others(weights, "query", "key") or weights.shape != (len(tokens), len(tokens)):
        raise ValueError(f"attention_map: weights {dict(weights.sizes)} do not match {len(tokens)} tokens")
    size = _cell(tokens, side) * len(tokens)
    # tooltips as objects: Altair takes a third of the time of a map to make them of text
    return (
        alt.Chart(inline(_cells(weights.transpose("query", "key"), tokens)))
        .mark_rect(aria=False)
        .encode(
            x=alt.X("key:O", title="Key (looked at)", axis=tokens_axis(tokens, orient="top", labelAngle=-90)),
            y=alt.Y("query:O", title="Query (looks)", axis=tokens_axis(tokens)),
            color=colour,
            tooltip=[
                alt.Tooltip("from:N"),
                alt.Tooltip("to:N"),
                alt.Tooltip("value:Q", title="attention", format=".4f"),
            ],
        )
        .properties(width=size, height=size)
    )


def _cell(tokens: Tokens, side: int) -> int:
    return max(8, min(28, side // max(1, len(tokens))))


def _scale(most: float) -> alt.Scale:
    return colours(xr.DataArray(most), diverging=False)


def _words(tokens: Tokens) -> str:
    return f"Attention map of {len(tokens)} tokens: {' '.join(tokens)}"


def _cells(weights: xr.DataArray, tokens: Tokens) -> list[dict]:
    return [
        {"query": query, "key": key, "from": tokens[query], "to": tokens[key], "value": value}
        for query, row in enumerate(weights.values.tolist())
        for key, value in enumerate(row)
    ]


def zoom(
    weights: xr.DataArray, tokens: Tokens, row: int, linked: Collection[int], *, side: int = 340, width: int = 220
) -> alt.HConcatChart:
    """The whole map, the row of one token framed; beside it that row as bars, those of linked tokens in another colour.

    * `row`: the token that looks, and `linked`: those that it is linked to, all from 0.
    * `side`: about how large the map is, `width`: how wide the bars are, in pixels.

    Raises `ValueError` for other dimensions, or if there are not such tokens.

    >>> weights = xr.DataArray([[0.9, 0.1], [0.5, 0.5]], dims=["query", "key"], name="8-10")
    >>> zoom(weights, ["the", "cat"], 1, [0]).hconcat[1].data.values[0]
    {'key': 0, 'token': 'the', 'value': 0.5, 'kind': 'linked'}
    """
    if not {row, *linked} <= set(range(len(tokens))):
        raise ValueError(f"zoom: tokens {sorted({row, *linked})} are not among {len(tokens)}")
    picture, cell = plain_map(weights, tokens, side)
    size = cell * len(tokens)
    framed = picture.encode(stroke=conditional(alt.StrokeValue, f"datum.query === {row}", LINKED, "transparent"))
    title = alt.TitleParams(f"Where “{tokens[row]}” looks", fontSize=12)
    bars = _bars(weights.transpose("query", "key").values[row].tolist(), tokens, set(linked))
    chart = alt.hconcat(framed, bars.properties(width=width, height=size, title=title))
    words = f"Attention map of {len(tokens)} tokens, and the row of {tokens[row]}: {' '.join(tokens)}"
    return finished(chart.resolve_scale(color="independent"), named(weights), words)


def _bars(row: list[float], tokens: Tokens, linked: set[int]) -> alt.Chart:
    records = [
        {"key": key, "token": tokens[key], "value": value, "kind": "linked" if key in linked else "other"}
        for key, value in enumerate(row)
    ]
    colour = alt.Scale(domain=["linked", "other"], range=[LINKED, OTHER])
    return (
        alt.Chart(inline(records))
        .mark_bar(aria=False, height={"band": 0.7})
        .encode(
            y=alt.Y("key:O", title=None, axis=tokens_axis(tokens)),
            x=alt.X("value:Q", title="Share of attention", axis=alt.Axis(tickCount=4, titleColor=GREY)),
            color=alt.Color("kind:N", scale=colour, legend=alt.Legend(title=None, orient="top")),
            tooltip=["token:N", alt.Tooltip("value:Q", title="attention", format=".4f"), "kind:N"],
        )
    )
