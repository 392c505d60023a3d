"""Charts of the words of a text: numbers of its tokens, and trees (as Figure 2 of Hewitt and Manning 2019)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from headscope.figures.theme import CATEGORIES, DIVERGING, INK, RULE, conditional, finished, layered
from headscope.figures.tidy import inline

Edge = Sequence[int]
LETTER, GAP, POINTS = 7.2, 16, 17  # pixels of a letter and between words; points of an arc
STEP, MARGIN = 22, 16  # pixels by which an arc is higher than one that is a word shorter
LINE = 20  # pixels of a word in words below each other
OVER, UNDER, MISSED = CATEGORIES[2], CATEGORIES[0], CATEGORIES[1]
LETTER, PADDING, ROW, NARROWEST = 6.6, 12, 22, 28  # pixels
MIDDLE = 4  # of the colours of DIVERGING


def dependency_trees(
    words: Sequence[str], over: Iterable[Edge], under: Iterable[Edge], title: str = ""
) -> alt.LayerChart:
    """Gold edges over the words of a sentence, predicted ones under them (pairs of places, from 0), wrong ones dashed.

    >>> len(dependency_trees(["She", "slept", "."], [(0, 1)], [(0, 1)]).layer)
    2
    """
    gold, predicted = ({(min(edge), max(edge)) for edge in edges} for edges in (over, under))
    centres, width = _places(words)
    highest = max((_height(edge) for edge in gold | predicted), default=STEP)
    arcs = [
        *(row for edge in sorted(gold) for row in _arc(edge, centres, 1, "gold tree")),
        *(
            row
            for edge in sorted(predicted)
            for row in _arc(edge, centres, -1, "predicted, right" if edge in gold else "predicted, wrong")
        ),
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-highest - MARGIN, highest + MARGIN], nice=False))
    kinds = ["gold tree", "predicted, right", "predicted, wrong"]
    lines = alt.Chart(inline(arcs)).mark_line(strokeWidth=1.6, aria=False).encode(
        x=x,
        y=y,
        detail=alt.Detail("edge:N"),
        order=alt.Order("point:Q"),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[OVER, UNDER, MISSED]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        strokeDash=alt.StrokeDash(
            "kind:N",
            scale=alt.Scale(domain=kinds, range=[[1, 0], [1, 0], [4, 3]]),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )  # fmt: skip
    text = [
        {"x": centre, "place": index, "y": 0, "word": word}
        for index, (centre, word) in enumerate(zip(centres, words, strict=True))
    ]
    names = (
        alt.Chart(inline(text)).mark_text(fontSize=12, color=INK, aria=False).encode(x=x, y=y, text=alt.Text("word:N"))
    )
    chart = alt.layer(lines, names).properties(width=width, height=2 * (highest + MARGIN))
    chart = chart.properties(usermeta={"longest": max(map(len, words)), "words": len(words), "highest": highest})
    right = len(gold & predicted)
    return finished(chart, title, f"{' '.join(words)}: {right} of {len(gold)} edges of the gold tree are predicted.")


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The centre of each word, and the width of all, in pixels."""
    ends = np.cumsum([len(word) * LETTER + GAP for word in words])
    starts = np.concatenate([[0], ends[:-1]])
    return ((starts + ends) / 2).tolist(), float(ends[-1])


def _height(edge: Edge) -> float:
    return STEP * min(6, abs(edge[1] - edge[0])) ** 0.8


def _arc(edge: Edge, centres: Sequence[float], side: int, kind: str) -> list[dict[str, Any]]:
    """The points of half an ellipse between two words."""
    first, last = (centres[index] for index in edge)
    turn = np.linspace(np.pi, 0, POINTS)
    across = (first + last) / 2 + np.cos(turn) * (last - first) / 2
    along = sum(edge) / 2 + np.cos(turn) * (edge[1] - edge[0]) / 2
    up = side * (9 + np.sin(turn) * _height(edge))
    name = f"{edge[0]}-{edge[1]} {side}"
    return [
        {
            "x": round(float(at), 1),
            "place": round(float(along_words), 2),
            "y": round(float(height), 1),
            "edge": name,
            "point": number,
            "kind": kind,
        }
        for number, (at, along_words, height) in enumerate(zip(across, along, up, strict=True))
    ]


def upright(spec: dict[str, Any], room: float) -> None:
    """Write the words of a specification of `dependency_trees` below each other: gold edges left, predicted right."""
    about = spec["usermeta"]
    word = LETTER * about["longest"] / 2
    factor = min(1.0, (room / 2 - word - 4) / (about["highest"] + MARGIN))
    across = f"-{factor:.3f} * datum.y - (datum.y > 0 ? 1 : datum.y < 0 ? -1 : 0) * {word:.1f}"
    x, y = {"domain": [-room / 2, room / 2]}, {"domain": [-0.6, about["words"] - 0.4], "reverse": True}
    for layer in spec["layer"]:
        layer["transform"] = [{"calculate": across, "as": "across"}]
        for channel, field, scale in (("x", "across", x), ("y", "place", y)):
            scale = scale | {"nice": False}
            layer["encoding"][channel] = {"field": field, "type": "quantitative", "axis": None, "scale": scale}
    spec |= {"width": room, "height": LINE * about["words"]}


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
