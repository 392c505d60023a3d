"""The baselines of a link within its sentence: a link of the same shape elsewhere, and other words at an end of it."""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from headscope.linguistics.sentence import Link, Sentence

Words = tuple[int, ...]


class Baselines(NamedTuple):
    """Places in the sentence that a link is compared with; None where there is no such place.

    * `elsewhere`: both ends are moved by the same number of words, so that they are as far apart, in the same order: a
      head that only looks so far ahead or back gives it as much.
    * `other_source`, `other_target`: one end alone is moved, the other stays: a head in which all words look at the
      same word gives it as much.
    """

    elsewhere: Link | None
    other_source: Link | None
    other_target: Link | None


def baselines(sentence: Sentence, random: Random) -> tuple[Baselines, ...]:
    """For each link of a sentence random others with as many words, where no link of the sentence stands.

    >>> sentence = Sentence("a b c d", ((0, 1), (2, 3), (4, 5), (6, 7)), links=(Link("x", (0,), (2,)),))
    >>> first = baselines(sentence, Random(0))[0]
    >>> (first.elsewhere.source, first.elsewhere.target), first.other_source.target
    (((1,), (3,)), (2,))
    """
    taken = {ends for link in sentence.links for ends in ((link.source, link.target), (link.target, link.source))}
    words = len(sentence.words)
    compared = []
    for link in sentence.links:
        both = ((_by(link.source, step), _by(link.target, step)) for step in _steps(random, words, link, both=True))
        sources = ((_by(link.source, step), link.target) for step in _steps(random, words, link, source=True))
        targets = ((link.source, _by(link.target, step)) for step in _steps(random, words, link))
        apart = ((ends for ends in each if not _overlap(ends, link)) for each in (sources, targets))
        compared.append(Baselines(*(_first(link, each, taken) for each in (both, *apart))))
    return tuple(compared)


def _steps(random: Random, words: int, link: Link, *, both: bool = False, source: bool = False) -> list[int]:
    """By how many words an end (or both together) can be moved, in random order; 0 is one of them."""
    moved = (*link.source, *link.target) if both else link.source if source else link.target
    steps = range(-min(moved), words - max(moved))
    return random.sample(steps, len(steps))


def _by(end: Words, step: int) -> Words:
    return tuple(word + step for word in end)


def _overlap(ends: tuple[Words, Words], link: Link) -> bool:
    """True if the moved end has a word of the link."""
    source, target = ends
    moved = source if target == link.target else target
    return not {*moved}.isdisjoint({*link.source, *link.target})


def _first(link: Link, places: Iterable[tuple[Words, Words]], taken: set[tuple[Words, Words]]) -> Link | None:
    return next((Link(link.relation, *ends, link.core) for ends in places if ends not in taken), None)
