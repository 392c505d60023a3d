"""Attention of each head to the links of each sentence, and to their baselines within the sentence.

The baselines are a link of the same shape elsewhere, and other words at an end of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.linguistics.sentence import Link, Sentence
from headscope.statistics.columns import Columns

DIRECTIONS = ("source_to_target", "target_to_source", "either")
# Relations beyond this many are in "all" alone.
MOST_RELATIONS = 40
Words = tuple[int, ...]


@dataclass(frozen=True)
class LinkAttention(Columns):
    """A row for each relation of each input that has a link of it, in the order of the corpus.

    Ten thousand rows and a BERT-base make 35 MB: all numbers of the study are made from this.

    * `input`: the number of the input, `unit`: of its document; `length`: how many tokens the input has.
    * `relation`, `links`: of how many links.
    * `linked`: the largest attention of any token of a source to any of its target (direction 0), and back (1).
    * `elsewhere`: the same for links elsewhere; `others`: from other words to the end that is looked at; `other_ends`:
      from the end that looks to other words, by default as `others` (see `Baselines`); `matched`: of the links that
      these are compared with, by default all. NaN where no link has baselines.
    * `sink`: attention to special tokens, the mean over the tokens of the ends that look (sources in direction 0);
      `sink_others`: over the tokens of all other words; NaN where there is none, and of all relations together.
    """

    ORDER = ("input", "relation")

    input: Int[np.ndarray, " row"]
    unit: Int[np.ndarray, " row"]
    length: Int[np.ndarray, " row"]
    relation: np.ndarray
    links: Int[np.ndarray, " row"]
    linked: Float[np.ndarray, "row head 2"]
    elsewhere: Float[np.ndarray, "row head 2"]
    others: Float[np.ndarray, "row head 2"]
    sink: Float[np.ndarray, "row head 2"]
    sink_others: Float[np.ndarray, "row head 2"]
    matched: Float[np.ndarray, "row head 2"] = None  # type: ignore[assignment]
    other_ends: Float[np.ndarray, "row head 2"] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """All links are compared, where no others are named."""
        for name, default in (("matched", self.linked), ("other_ends", self.others)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)

    @property
    def compared(self) -> Bool[np.ndarray, " row"]:
        """Mask of the rows that have baselines."""
        return ~np.isnan(self.elsewhere[:, 0, 0])

    @property
    def one_end_moved(self) -> Float[np.ndarray, "row head 2"]:
        """The larger of `others` and `other_ends` over all rows, for each head and direction."""
        return np.where(self.other_ends.sum(0) > self.others.sum(0), self.other_ends, self.others)

    def by_relation(self, apart: Sequence[str] = ()) -> Mapping[str, "LinkAttention"]:
        """The rows of "all", one for each input, and of each relation, the most frequent first.

        * `apart`: relations that are not in "all".
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = [name for _, name in sorted(zip(-counts, names.tolist(), strict=True))[:MOST_RELATIONS]]
        ranked = self[~np.isin(self.relation, apart)].by_input()
        return {"all": ranked} | {name: self[self.relation == name] for name in order}

    def by_input(self) -> "LinkAttention":
        """One row for each input: the largest of all its links, and of those that have baselines."""
        inputs, starts = np.unique(self.input, return_index=True)
        if not len(inputs):
            return self
        return LinkAttention(
            inputs,
            self.unit[starts],
            self.length[starts],
            np.full(len(inputs), "all"),
            np.add.reduceat(self.links, starts),
            np.maximum.reduceat(self.linked, starts),
            np.fmax.reduceat(self.elsewhere, starts),
            np.fmax.reduceat(self.others, starts),
            *np.full((2, len(inputs), *self.sink.shape[1:]), np.nan),
            matched=np.fmax.reduceat(self.matched, starts),
            other_ends=np.fmax.reduceat(self.other_ends, starts),
        )


def with_either(values: Float[np.ndarray, "row head 2"]) -> Float[np.ndarray, "row head direction"]:
    """Values for each of `DIRECTIONS`: of both, the larger.

    >>> with_either(np.array([[[0.5, 0.25]]])).tolist()
    [[[0.5, 0.25, 0.5]]]
    """
    return np.concatenate([values, values.max(-1, keepdims=True)], axis=-1)


class Baselines(NamedTuple):
    """Places in the sentence that a link is compared with; None where there is no such place.

    Links and places are exchangeable for a head that knows nothing of links: as many pairs of tokens on both sides,
    each place once, and what looks stands on the same side of what it looks at, so that a causal model sees as much.

    * `elsewhere`: both ends are moved by the same number of words, so that they are as far apart, in the same order: a
      head that only looks so far ahead or back gives it as much.
    * `other_source`, `other_target`: one end alone is moved, the other stays: a head in which all words look at the
      same word gives it as much, as does one in which the words at this end look at all words equally.
    """

    elsewhere: Link | None
    other_source: Link | None
    other_target: Link | None


def baselines(
    sentence: Sentence,
    random: Random,
    parts: Sequence[tuple[int, int]] | None = None,
    pieces: Callable[[int], int] = lambda word: 1,
) -> tuple[Baselines, ...]:
    """For each link, random places of its sentence with equally many words and tokens and no link.

    * `parts`: words [start, end), in one of which each end stays; by default the sentence.
    * `pieces`: the number of tokens of each word; by default one.

    >>> sentence = Sentence("a b c d", ((0, 1), (2, 3), (4, 5), (6, 7)), links=(Link("x", (0,), (2,)),))
    >>> first = baselines(sentence, Random(0))[0]
    >>> (first.elsewhere.source, first.elsewhere.target), first.other_source.target
    (((1,), (3,)), (2,))
    """
    taken = {ends for link in sentence.links for ends in ((link.source, link.target), (link.target, link.source))}
    steps = partial(_steps, random, parts or ((0, len(sentence.words)),))
    fits = partial(_as_many_pieces, pieces)
    compared, used = [], [set(taken) for _ in Baselines._fields]
    for link in sentence.links:
        both = ((_by(link.source, step), _by(link.target, step)) for step in steps(link.source, link.target))
        sources = ((_by(link.source, step), link.target) for step in steps(link.source))
        targets = ((link.source, _by(link.target, step)) for step in steps(link.target))
        apart = [[ends for ends in others if _is_apart(ends, link)] for others in (sources, targets)]
        places = [filter(partial(fits, link), candidates) for candidates in (both, *apart)]
        compared.append(Baselines(*map(partial(_first, link), places, used)))
    return tuple(compared)


def _steps(random: Random, parts: Sequence[tuple[int, int]], *ends: Words) -> list[int]:
    """By how many words some ends can be moved together, in random order; 0 is one of them."""
    bounds = [(end, part) for end in ends for part in parts if part[0] <= end[0] < part[1]]
    lowest = max(start - min(end) for end, (start, _) in bounds)
    highest = min(stop - max(end) for end, (_, stop) in bounds)
    steps = range(lowest, highest)
    return random.sample(steps, len(steps))


def _by(end: Words, step: int) -> Words:
    return tuple(word + step for word in end)


def _is_apart(ends: tuple[Words, Words], link: Link) -> bool:
    """Whether the moved end has no word of the link, and stands on the same side of the other one."""
    source, target = ends
    moved = source if target == link.target else target
    same_side = (source > target) == (link.source > link.target)
    return same_side and {*moved}.isdisjoint({*link.source, *link.target})


def _as_many_pieces(pieces: Callable[[int], int], link: Link, ends: tuple[Words, Words]) -> bool:
    before, after = ([[*map(pieces, words)] for words in both] for both in ((link.source, link.target), ends))
    return before == after


def _first(link: Link, candidates: Iterable[tuple[Words, Words]], used: set[tuple[Words, Words]]) -> Link | None:
    """The first place that is not used, which is used from then on, in both directions."""
    for ends in candidates:
        if ends not in used:
            used |= {ends, (ends[1], ends[0])}
            return Link(link.relation, *ends, link.core)
    return None
