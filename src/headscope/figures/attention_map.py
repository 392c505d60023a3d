"""Attention map of one example: which token looks at which."""

import json
from collections.abc import Sequence

import altair as alt
import xarray as xr

from headscope.figures._table import inline, others
from headscope.figures._theme import SEQUENTIAL, finished, named


def attention_map(weights: xr.DataArray, tokens: Sequence[str], *, side: int = 420) -> alt.Chart:
    """Queries from top to bottom, keys from left to right; a row of weights sums to 1.

    * `weights`: dimensions query and key, one head of one example.
    * `tokens`: the tokens in their order; the same one may stand twice.
    * `side`: about how large the map is, in pixels.

    Raises `ValueError` for other dimensions or if the tokens are not as many as the weights.

    >>> weights = xr.DataArray([[0.9, 0.1], [0.5, 0.5]], dims=["query", "key"], name="8-10")
    >>> attention_map(weights, ["the", "the"]).data.values[1]
    {'query': 0, 'key': 1, 'from': 'the', 'to': 'the', 'value': 0.1}
    """
    if others(weights, "query", "key") or weights.shape != (len(tokens), len(tokens)):
        raise ValueError(f"attention_map: weights {dict(weights.sizes)} do not match {len(tokens)} tokens")
    cell = max(8, min(28, side // max(1, len(tokens))))
    written = f"{json.dumps(list(tokens))}[datum.value]"
    axis = {"labelExpr": written, "domain": False, "ticks": False, "labelOverlap": False}
    legend = alt.Legend(title="Attention (share)")
    chart = (
        alt.Chart(inline(_cells(weights.transpose("query", "key"), tokens)))
        .mark_rect(aria=False)
        .encode(
            x=alt.X("key:O", title="Key (looked at)", axis=alt.Axis(orient="top", labelAngle=-90, **axis)),
            y=alt.Y("query:O", title="Query (looks)", axis=alt.Axis(**axis)),
            color=alt.Color("value:Q", scale=alt.Scale(scheme=SEQUENTIAL, domain=[0, 1]), legend=legend),
            tooltip=["from:N", "to:N", alt.Tooltip("value:Q", title="attention", format=".4f")],
        )
        .properties(width=cell * len(tokens), height=cell * len(tokens))
    )
    return finished(chart, named(weights), f"Attention map of {len(tokens)} tokens: {' '.join(tokens)}")


def _cells(weights: xr.DataArray, tokens: Sequence[str]) -> list[dict]:
    return [
        {"query": query, "key": key, "from": tokens[query], "to": tokens[key], "value": value}
        for query, row in enumerate(weights.values.tolist())
        for key, value in enumerate(row)
    ]
