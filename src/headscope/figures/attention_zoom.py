"""Attention map of one example beside one of its rows: where a token looks (Kovaleva et al. 2019, Figure 3)."""

from collections.abc import Collection

import altair as alt
import xarray as xr

from headscope.figures.attention_map import Tokens, plain_map, tokens_axis
from headscope.figures.theme import CATEGORIES, GREY, conditional, finished, named
from headscope.figures.tidy import inline

LINKED, OTHER = CATEGORIES[1], "#b8c4ce"


def zoom(
    weights: xr.DataArray, tokens: Tokens, row: int, linked: Collection[int], *, side: int = 340, width: int = 220
) -> alt.HConcatChart:
    """The whole map, the row of one token framed; beside it that row as bars, those of linked tokens in another colour.

    * `weights`: dimensions query and key, one head of one example; its name and largest value are the title.
    * `tokens`: the tokens in their order; the same one may stand twice.
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
