"""Attention map of one example, or several beside each other: which token looks at which."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.theme import colours, finished, named
from headscope.figures.tidy import inline, others

Tokens = Sequence[str]
SEPARATOR = "\x1f"


def attention_map(weights: xr.DataArray, tokens: Tokens, *, side: int = 420) -> alt.Chart:
    """Queries from top to bottom, keys from left to right; a row of weights sums to 1.

    * `weights`: dimensions query and key, one head of one example.
    * `tokens`: the tokens in their order; the same one may stand twice.
    * `side`: about how large the map is, in pixels.

    Raises `ValueError` for other dimensions or if the tokens are not as many as the weights.

    >>> weights = xr.DataArray([[0.9, 0.1], [0.5, 0.5]], dims=["query", "key"], name="8-10")
    >>> attention_map(weights, ["the", "the"]).data.values[1]
    {'query': 0, 'key': 1, 'from': 'the', 'to': 'the', 'value': 0.1}
    """
    legend = alt.Legend(title="Attention (share)")
    chart = _chart(weights, tokens, side, alt.Color("value:Q", scale=_scale(1.0), legend=legend))
    return finished(chart, named(weights), _words(tokens))


def attention_maps(maps: Sequence[tuple[xr.DataArray, Tokens]], title: str, *, side: int = 280) -> alt.HConcatChart:
    """Maps side by side, each in shades of its own largest value, which its title states.

    * `maps`: as for `attention_map`; their names are their titles.
    * `side`: about how large each map is, in pixels.

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
    return (
        alt.Chart(inline(_cells(weights.transpose("query", "key"), tokens)))
        .mark_rect(aria=False)
        .encode(
            x=alt.X("key:O", title="Key (looked at)", axis=tokens_axis(tokens, orient="top", labelAngle=-90)),
            y=alt.Y("query:O", title="Query (looks)", axis=tokens_axis(tokens)),
            color=colour,
            tooltip=["from:N", "to:N", alt.Tooltip("value:Q", title="attention", format=".4f")],
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
