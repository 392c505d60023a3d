"""Card, Try it and Examples as lists of lines, for a paper."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from headscope.figures.labels import head_name
from headscope.figures.theme import CATEGORIES, INK, conditional, finished
from headscope.figures.tidy import inline
from headscope.report.cards import Card
from headscope.report.cards.head_numbers import question, value
from headscope.report.parts import Finding
from headscope.studies.words.attributions import METHODS
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import ViewState

WIDTH, LINE, BAR, COLUMN = 760, 19, 96, 160  # pixels: of all, of a line, of the longest bar, of a column of bars
LETTER = 5.9  # pixels of a letter; those of most texts are narrower, so that lines end early


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A text, broken into lines where it is long, or a heading; with a bar for each value that is not None."""

    text: str
    values: tuple[float | None, ...] = ()
    strong: bool = False


def card_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The findings and numbers of the first chosen head."""
    card = session.head_card(*_head(session, state), session.model_of(text, state.model))
    return listing(list(_card_lines(card)), f"Head {card.name} of {card.model.name}", ("share of heads not above",))


def try_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The predictions with all heads and without those of the state, or else without the chosen ones."""
    chosen = state.off or ",".join(head_name(*head) for head in state.heads or session.usual_heads())
    answer = session.try_heads(text, chosen, state.mode, state.model)
    lines = []
    for before, after in zip(answer["before"], answer["after"], strict=True):
        sides = [{item["text"]: item["value"] for item in answered["items"]} for answered in (before, after)]
        lines.append(ListedLine(before["title"], strong=True))
        lines += [ListedLine(word, tuple(side.get(word) for side in sides)) for word in sides[0] | sides[1]]
    kept, columns = session.kept(text), ("all heads", f"without {answer['heads']}")
    shown = kept.against if kept.against and state.model else _joined(kept.first, kept.second)
    return listing(lines, shown, columns)


def example_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The sentences in which the first chosen head is most itself."""
    layer, head = _head(session, state)
    by = state.by or session.usual_focus(layer, head)
    entries = session.examples(layer, head, by)
    lines = [ListedLine(_joined(entry["text"], entry.get("second")), (entry["value"],)) for entry in entries]
    return listing(lines, f"Head {head_name(layer, head)}: examples", (by,))


def importance_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The importance of each token, at the layer of the first chosen head."""
    layer, _ = _head(session, state)
    answer = session.importances(text, state.method, state.model)
    tokens, values = session.maps(text, state.model).text.tokens, answer["values"][layer - 1]
    lines = [ListedLine(token, (value,)) for token, value in zip(tokens, values, strict=True)]
    explained = answer["prediction"] or answer["target"]
    return listing(lines, f"Importance by {METHODS[state.method]}, layer {layer}: {explained}", ("importance",))


def _joined(first: str, second: str | None) -> str:
    return f"{first} | {second}" if second else first


def _head(session: ViewSession, state: ViewState) -> tuple[int, int]:
    return next(iter(state.heads or session.usual_heads()))


def _card_lines(card: Card) -> Iterator[ListedLine]:
    for row in card.rank_rows:
        yield ListedLine(f"{row.words} {row.value}, {row.rank_words}", (row.share,))
    yield from map(_finding, card.findings)
    for part in card.parts:
        yield ListedLine(part.source.name, strong=True)
        yield from map(_finding, part.findings)
        for row in [] if part.findings else part.picked:
            yield ListedLine(f"{question(row)} {value(row)}, rank {row.rank} of {row.heads}")


def _finding(finding: Finding) -> ListedLine:
    return ListedLine(f"{finding.topic}: {finding.text}")


def listing(lines: Sequence[ListedLine], title: str, columns: Sequence[str] = ()) -> alt.LayerChart:
    """Texts from top to bottom, and beside them bars under the names of `columns`, all on one scale.

    >>> plain, strong, bars = listing([ListedLine("cat", (-0.5,))], "Predictions", ["all heads"]).layer
    >>> [row["text"] for row in plain.data.values], [row["text"] for row in strong.data.values]
    (['cat', '−0.500'], ['all heads'])
    >>> [bar["x2"] - bar["x"] for bar in bars.data.values]  # as long as that of 0.5, in another colour
    [96.0]
    """
    letters = max((len(line.text) for line in lines), default=0)
    left = min(WIDTH - COLUMN * len(columns), round(LETTER * letters) + LINE)
    placed = list(_placed(lines, int(left / LETTER), first=1 if columns else 0))
    bars = list(_bars(placed, left))
    plain = [{"x": 0, "y": y, "text": text} for y, text, line in placed if not line.strong]
    plain += [{"x": bar["x2"] + 6, "y": bar["y"], "text": f"{bar['value']:.3f}".replace("-", "−")} for bar in bars]
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
    mark = alt.Chart(inline(bars)).mark_bar(height=10, yOffset=6, aria=False)
    colour = conditional(alt.ColorValue, "datum.value < 0", CATEGORIES[1], CATEGORIES[0])
    layers.append(mark.encode(x=x, x2=alt.X2("x2:Q"), y=y, color=colour))
    chart = alt.layer(*layers).properties(width=WIDTH, height=LINE * rows)
    return finished(chart, textwrap.wrap(title, WIDTH // 7), f"{title}. {' '.join(line.text for line in lines)}")


def _placed(lines: Sequence[ListedLine], letters: int, first: int) -> Iterator[tuple[int, str, ListedLine]]:
    """The lines of all texts with their rows, counted from `first`."""
    row = first
    for line in lines:
        for text in textwrap.wrap(line.text, letters) or [""]:
            yield row, text, line
            row += 1


def _bars(placed: Sequence[tuple[int, str, ListedLine]], left: int) -> Iterator[dict[str, Any]]:
    """A bar for each value, beside the first line of its text."""
    most = max((abs(length) for _, _, line in placed for length in line.values if length is not None), default=0) or 1.0
    before = None
    for y, _, line in placed:
        for at, length in enumerate(line.values if line is not before else ()):
            if length is not None:
                x = left + COLUMN * at
                yield {"x": x, "x2": x + BAR * abs(length) / most, "y": y, "value": length}
        before = line


LISTINGS = {"card": card_listing, "try": try_listing, "importance": importance_listing, "examples": example_listing}
