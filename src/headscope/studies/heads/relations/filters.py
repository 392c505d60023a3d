"""Filter of sentences and links (Kovaleva et al. 2019, section 4.2), step by step, each counted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Link, Sentence, number_of
from headscope.studies.heads.relations.link_kinds import LinkKind, with_links

IN_MEMORY = 4_000
WITHOUT = "sentences without a link"


@dataclass(frozen=True)
class Limits:
    """Most words of a sentence, most words of either end of a link, and the smallest distance between its ends.

    None is no limit; with a distance of 1 the ends only share no word.
    """

    words: int | None = None
    span: int | None = None
    distance: int = 1

    def __str__(self) -> str:
        return ",".join("" if limit is None else str(limit) for limit in (self.words, self.span, self.distance))


NONE, PAPER = Limits(), Limits(12, 3, 2)
# The released code also leaves out elements at a distance of 2.
AS_CODED = Limits(12, 3, 3)


def parsed(text: str) -> Limits:
    """Limits as they are written: "12,3,2", where a number may be left out, or "none".

    Raises `HeadscopeError` for anything else.

    >>> parsed("12,3,2") == PAPER, parsed("none") == NONE, parsed(",,2")
    (True, True, Limits(words=None, span=None, distance=2))
    """
    parts = ["", "", ""] if text == "none" else [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part == "" or (part.isdecimal() and int(part) > 0) for part in parts):
        raise HeadscopeError(f"limits '{text}' are not WORDS,SPAN,DISTANCE; write 12,3,2 or none")
    words, span, distance = (int(part) if part else None for part in parts)
    return Limits(words, span, distance or 1)


def linked(corpus: Corpus, kind: LinkKind, limits: Limits) -> tuple[Corpus, dict[str, int]]:
    """The examples that have a link left, their sentences with those links; and how many each step dropped, in order.

    Frame elements are filtered as the paper does: a sentence is dropped if any of its core elements is too long or too
    near, or if its target has several parts; elements that are not core are no links. With no limits at all, all
    elements are links. Of other links those that are too long or too near are dropped alone.
    """
    dropped: Counter[str] = Counter()
    kept, documents, number = [], set[int](), 0
    for number, example in enumerate(_again(corpus, kind, limits, dropped), 1):
        documents.add(number_of(example.document))
        if number <= IN_MEMORY:
            kept.append(example)
    again = partial(iter, kept) if number <= IN_MEMORY else partial(_again, corpus, kind, limits, Counter())
    steps = {reason: dropped[reason] for reason in _reasons(limits) if dropped[reason]}
    n_documents = len(documents - {number_of("")})
    return replace(corpus, n_examples=number, n_documents=n_documents, again=again), steps


def _reasons(limits: Limits) -> list[str]:
    """Reasons to drop a sentence or a link, in the order of the checks."""
    return [
        WITHOUT,
        *(f"sentences {reason}" for reason in _refusals(limits)),
        f"links of more than {limits.span} words",
        _near(limits),
    ]


def _refusals(limits: Limits) -> list[str]:
    """Why a sentence with frame elements may be dropped."""
    return [
        "with a split target",
        "without a core element",
        f"of more than {limits.words} words",
        f"with an element of more than {limits.span} words",
        f"with an element nearer than {limits.distance} words",
    ]


def _near(limits: Limits) -> str:
    return "links of a word to itself" if limits.distance == 1 else f"links nearer than {limits.distance} words"


def relinked(example: Example, kind: LinkKind, limits: Limits, dropped: Counter[str] | None = None) -> Example:
    """An example whose sentences have the links of a kind that are left; `dropped` counts the others."""
    counts = Counter[str]() if dropped is None else dropped

    def kept(sentence: Sentence) -> Sentence:
        return replace(sentence, links=_kept(sentence, sentence.links, limits, counts))

    linked = with_links(example, kind)
    return replace(linked, first=tuple(map(kept, linked.first)), second=tuple(map(kept, linked.second)))


def _again(corpus: Corpus, kind: LinkKind, limits: Limits, dropped: Counter[str]) -> Iterator[Example]:
    for example in corpus:
        linked = relinked(example, kind, limits, dropped)
        if any(sentence.links for sentence in linked.sentences):
            yield linked


def _kept(sentence: Sentence, links: tuple[Link, ...], limits: Limits, dropped: Counter[str]) -> tuple[Link, ...]:
    if not links:
        dropped[WITHOUT] += 1
    elif links[0].core is not None and limits != NONE:
        if reason := _refused(sentence, links, limits):
            dropped[f"sentences {reason}"] += 1
        else:
            return tuple(link for link in links if link.core)
    elif limits.words is not None and len(sentence.words) > limits.words:
        dropped[f"sentences of more than {limits.words} words"] += 1
    else:
        return tuple(link for link in links if not _dropped(link, limits, dropped))
    return ()


def _refused(sentence: Sentence, links: tuple[Link, ...], limits: Limits) -> str:
    """Why a sentence with frame elements is dropped, by the first step that does; empty if it is not."""
    core = [link for link in links if link.core]
    steps = (
        any(link.target[-1] - link.target[0] >= len(link.target) for link in links),
        not core,
        limits.words is not None and len(sentence.words) > limits.words,
        any(_long(link.source, limits) for link in core),
        any(link.distance < limits.distance for link in core),
    )
    return next((reason for reason, so in zip(_refusals(limits), steps, strict=True) if so), "")


def _dropped(link: Link, limits: Limits, dropped: Counter[str]) -> bool:
    """True if a link alone is dropped; `dropped` counts it."""
    steps = {
        f"links of more than {limits.span} words": _long(link.source, limits) or _long(link.target, limits),
        _near(limits): link.distance < limits.distance,
    }
    reason = next((reason for reason, so in steps.items() if so), None)
    if reason:
        dropped[reason] += 1
    return reason is not None


def _long(words: tuple[int, ...], limits: Limits) -> bool:
    return limits.span is not None and len(words) > limits.span
