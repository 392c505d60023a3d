"""Sentence pairs of a CoNLL-U file: two consecutive sentences that share a comment `# pair = X`."""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.corpora.problems import Bad, Skipped
from headscope.linguistics.sentence import Example, Sentence


class Named(NamedTuple):
    """A sentence with its id, the line it starts on, and its pair and label, if any."""

    id: str
    line: int
    sentence: Sentence
    pair: str | None
    label: str | None


def join(items: Iterator[Named | Bad | Skipped]) -> Iterator[Example | Bad | Skipped]:
    """Examples of one sentence, and of two where they are a pair; a sentence that lacks its partner is bad."""
    waiting: Named | None = None
    for item in items:
        if not isinstance(item, Named):
            yield item
            continue
        if waiting and waiting.pair == item.pair:
            yield _pair(waiting, item)
            waiting = None
            continue
        if waiting:
            yield _alone(waiting)
        waiting = item if item.pair else None
        if not item.pair:
            yield Example(item.id, (item.sentence,), label=item.label)
    if waiting:
        yield _alone(waiting)


def _pair(first: Named, second: Named) -> Example | Bad:
    if first.label and second.label and first.label != second.label:
        return Bad(
            second.line, f"pair '{second.pair}' has the labels '{first.label}' and '{second.label}', expected one"
        )
    return Example(first.pair or "", (first.sentence,), (second.sentence,), first.label or second.label)


def _alone(item: Named) -> Bad:
    return Bad(item.line, f"pair '{item.pair}' has one sentence, expected two that follow each other")
