"""A text in several rows, its tokens coloured by a number in each row: one row for each method."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from headscope.figures.theme import DIVERGING, INK, RULE, conditional, finished, layered
from headscope.figures.tidy import inline

LETTER, PADDING, ROW, NARROWEST = 6.6, 12, 22, 28  # pixels
MIDDLE = 4  # of the colours of DIVERGING


def token_rows(tokens: Sequence[str], rows: Mapping[str, Sequence[float]], title: str, legend: str) -> alt.LayerChart:
    """The tokens of a text once for each row of numbers from -1 to 1; dark orange is 1, white 0, dark violet -1.

    >>> chart = token_rows(["it", "rains"], {"attention": [0.2, 1.0]}, "Tokens", "importance")
    >>> [layer.mark.type for layer in chart.layer]
    ['rect', 'text']
    """
    ends = [0.0]
    for token in tokens:
        ends.append(ends[-1] + max(NARROWEST, PADDING + LETTER * len(token)))
    records = [
        {"row": name, "token": token, "value": float(value), "from": start, "to": end, "middle": (start + end) / 2}
        for name, values in rows.items()
        for token, value, start, end in zip(tokens, values, ends[:-1], ends[1:], strict=True)
    ]
    across = {"axis": None, "scale": alt.Scale(domain=[0, ends[-1]], nice=False)}
    colours = alt.Scale(domain=[index / MIDDLE - 1 for index in range(len(DIVERGING))], range=list(DIVERGING))
    base = alt.Chart(inline(records)).encode(
        y=alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
        tooltip=[
            alt.Tooltip("row:N", title="method"),
            alt.Tooltip("token:N"),
            alt.Tooltip("value:Q", title=legend, format=".3f"),
        ],
    )
    cells = base.mark_rect(stroke=RULE, strokeWidth=0.5, aria=False).encode(
        x=alt.X("from:Q", **across),
        x2=alt.X2("to:Q"),
        color=alt.Color("value:Q", scale=colours, legend=alt.Legend(title=legend, orient="bottom", gradientLength=160)),
    )
    words = base.mark_text(fontSize=11, aria=False).encode(
        x=alt.X("middle:Q", **across),
        text=alt.Text("token:N"),
        color=conditional(alt.ColorValue, "abs(datum.value) > 0.8", "white", INK),
    )
    chart = layered(cells, words, width=ends[-1], height=ROW * len(rows), usermeta={"ends": ends})
    return finished(chart, title, f"{title}: {' '.join(tokens)}, coloured by {', '.join(rows)}.")


def wrapped(spec: dict[str, Any], room: float) -> None:
    """Wrap each row of a specification of `token_rows` into lines of at most `room` pixels, or of one token."""
    ends = spec["usermeta"]["ends"]
    starts = [0.0]
    for start, end in pairwise(ends):
        if end - starts[-1] > room and start > starts[-1]:
            starts.append(start)
    across = max(end - start for start, end in zip(starts, [*starts[1:], ends[-1]], strict=True))
    line = " + ".join(["0", *(f"(datum.from >= {start})" for start in starts[1:])])  # a number where there is one, too
    calculations = [{"calculate": f"datum.{end} - {starts}[datum.line]", "as": end} for end in ("from", "to", "middle")]
    spec["transform"] = [{"calculate": line, "as": "line"}, *calculations]
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"] = {"domain": [0, across], "nice": False}
        layer["encoding"]["yOffset"] = {"field": "line", "type": "ordinal"}
    spec |= {"width": across, "height": len(starts) * spec["height"]}
