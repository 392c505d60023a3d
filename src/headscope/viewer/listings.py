"""Card, Try it and Examples as lists of lines, for a paper."""

from collections.abc import Iterator
from typing import Any

from headscope.figures.labels import head_name
from headscope.figures.listing import ListedLine, listing
from headscope.report.cards import Card
from headscope.report.cards.head_numbers import Row
from headscope.report.cards.wording import question, value
from headscope.report.parts import Finding
from headscope.viewer.embedded import usual_heads
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import ViewState


def card_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The findings and numbers of the first chosen head."""
    card = session.head_card(*_head(session, state), state.model)
    return listing(list(_card_lines(card)), f"Head {card.name} of {card.model.name}", ("share of heads not above",))


def try_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The predictions with all heads and without those of the state, or else without the chosen ones."""
    chosen = state.off or ",".join(head_name(*head) for head in state.heads or usual_heads(session))
    answer = session.try_heads(text, chosen, state.mode, state.model)
    lines = []
    for before, after in zip(answer["before"], answer["after"], strict=True):
        sides = [{item["text"]: item["value"] for item in answered["items"]} for answered in (before, after)]
        lines.append(ListedLine(before["title"], strong=True))
        lines += [ListedLine(word, tuple(side.get(word) for side in sides)) for word in sides[0] | sides[1]]
    kept, columns = session.kept(text), ("all heads", f"without {answer['heads']}")
    return listing(lines, _joined(kept.first, kept.second), columns)


def example_listing(session: ViewSession, text: str, state: ViewState) -> Any:
    """The sentences in which the first chosen head is most itself."""
    layer, head = _head(session, state)
    by = state.by or session.usual_focus(layer, head)
    entries = session.examples(layer, head, by)
    lines = [ListedLine(_joined(entry["text"], entry.get("second")), (entry["value"],)) for entry in entries]
    return listing(lines, f"Head {head_name(layer, head)}: examples", (by,))


def _joined(first: str, second: str | None) -> str:
    return f"{first} | {second}" if second else first


def _head(session: ViewSession, state: ViewState) -> tuple[int, int]:
    return next(iter(state.heads or usual_heads(session)))


def _card_lines(card: Card) -> Iterator[ListedLine]:
    for row in card.rank_rows:
        yield ListedLine(f"{row.words} {row.value}, {row.rank_words}", (row.share,))
    yield from map(_finding, card.findings)
    for part in card.parts:
        yield ListedLine(part.source.name, strong=True)
        yield from map(_finding, part.findings)
        yield from map(_number, [] if part.findings else part.picked)


def _number(row: Row) -> ListedLine:
    return ListedLine(f"{question(row)} {value(row)}, rank {row.rank} of {row.heads}")


def _finding(finding: Finding) -> ListedLine:
    return ListedLine(f"{finding.topic}: {finding.text}")


LISTINGS = {"card": card_listing, "try": try_listing, "examples": example_listing}
