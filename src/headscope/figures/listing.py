"""Lines of text, some with bars behind them: what a card says, predictions, sentences."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from headscope.figures.theme import CATEGORIES, INK, finished
from headscope.figures.tidy import inline

WIDTH, LINE, BAR, COLUMN = 760, 19, 96, 160  # pixels: of all, of a line, of the longest bar, of a column of bars
LETTER = 5.9  # pixels of a letter; those of most texts are narrower, so that lines end early


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A text, broken into lines where it is long.

    * `values`: from 0, a bar each; None leaves one out.
    * `strong`: a heading.
    """

    text: str
    values: tuple[float | None, ...] = ()
    strong: bool = False


def listing(lines: Sequence[ListedLine], title: str, columns: Sequence[str] = ()) -> alt.LayerChart:
    """Texts from top to bottom, and beside them bars under the names of `columns`, all on one scale.

    >>> plain, strong, _ = listing([ListedLine("cat", (0.5,))], "Predictions", ["all heads"]).layer
    >>> [row["text"] for row in plain.data.values], [row["text"] for row in strong.data.values]
    (['cat', '0.500'], ['all heads'])
    """
    left = WIDTH - COLUMN * len(columns)
    placed = list(_placed(lines, int(left / LETTER), first=1 if columns else 0))
    bars = list(_bars(placed, left))
    plain = [{"x": 0, "y": y, "text": text} for y, text, line in placed if not line.strong]
    plain += [{"x": bar["x2"] + 6, "y": bar["y"], "text": f"{bar['value']:.3f}"} for bar in bars]
    strong = [{"x": 0, "y": y, "text": text} for y, text, line in placed if line.strong]
    strong += [{"x": left + COLUMN * at, "y": 0, "text": name} for at, name in enumerate(columns)]
    rows = 1 + max((y for y, _, _ in placed), default=0)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, WIDTH], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[rows, 0], nice=False))
    look: dict[str, Any] = {"align": "left", "baseline": "top", "fontSize": 12, "color": INK, "aria": False}
    layers = [
        alt.Chart(inline(texts)).mark_text(**look, fontWeight=weight).encode(x=x, y=y, text=alt.Text("text:N"))
        for texts, weight in ((plain, alt.FontWeight("normal")), (strong, alt.FontWeight("bold")))
    ]
    mark = alt.Chart(inline(bars)).mark_bar(height=10, yOffset=6, color=CATEGORIES[0], aria=False)
    layers.append(mark.encode(x=x, x2=alt.X2("x2:Q"), y=y))
    chart = alt.layer(*layers).properties(width=WIDTH, height=LINE * rows)
    return finished(chart, title, f"{title}. {' '.join(line.text for line in lines)}")


def _placed(lines: Sequence[ListedLine], letters: int, first: int) -> Iterator[tuple[int, str, ListedLine]]:
    """The lines of all texts with their places, counted from `first`."""
    place = first
    for line in lines:
        for text in textwrap.wrap(line.text, letters) or [""]:
            yield place, text, line
            place += 1


def _bars(placed: Sequence[tuple[int, str, ListedLine]], left: int) -> Iterator[dict[str, Any]]:
    """A bar for each value, beside the first line of its text."""
    most = max((value for _, _, line in placed for value in line.values if value is not None), default=0.0) or 1.0
    before = None
    for y, _, line in placed:
        for at, value in enumerate(line.values if line is not before else ()):
            if value is not None:
                x = left + COLUMN * at
                yield {"x": x, "x2": x + BAR * max(0.0, value) / most, "y": y, "value": value}
        before = line
