"""The syntactic head of each word of a treebank, and its baselines: the word at a fixed offset or position."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from headscope.linguistics.sentence import Example, Sentence

ROOT = -1
Words = Int[np.ndarray, " word"]


class Dependency(NamedTuple):
    """A word with its syntactic head.

    * `word`, `head`: numbered through all sentences of the example, from 0; the head of a root is `ROOT`.
    * `position`: of the word in its sentence, from 0; `length`: the number of words of the sentence.
    * `relation`: of the word to its head; "root" for a root, and "dep" where the treebank has no relations.
    """

    word: int
    head: int
    position: int
    length: int
    relation: str

    @property
    def head_position(self) -> int:
        """The position of the head in the sentence, or `ROOT`."""
        return ROOT if self.head == ROOT else self.head - self.word + self.position


def dependencies_of(example: Example, subtypes: bool = False) -> Iterator[Dependency]:
    """Every word of an example whose sentence has a tree; relations without their subtypes, or with them.

    >>> sentence = Sentence("She slept", ((0, 3), (4, 9)), heads=(2, 0), deprel=("nsubj:outer", "root"))
    >>> [(each.word, each.head, each.relation) for each in dependencies_of(Example("1", (sentence,)))]
    [(0, 1, 'nsubj'), (1, -1, 'root')]
    """
    before = 0
    for sentence in example.sentences:
        for index, head in enumerate(sentence.heads):
            head_word = before + head - 1 if head else ROOT
            relation = _relation(sentence, index, subtypes)
            yield Dependency(before + index, head_word, index, len(sentence.words), relation)
        before += len(sentence.words)


def sentence_numbers(example: Example) -> list[int]:
    """The number of each word's sentence within the example, from 0."""
    return [number for number, sentence in enumerate(example.sentences) for _ in sentence.words]


def _relation(sentence: Sentence, index: int, subtypes: bool) -> str:
    if not sentence.heads[index]:
        return "root"
    if not sentence.deprel:
        return "dep"
    return sentence.deprel[index] if subtypes else sentence.deprel[index].partition(":")[0]


class FixedWord(NamedTuple):
    """The word at an offset from each word, or at a position of its sentence.

    * `position`: 1 is the first word, 2 the second, -1 the last; 0 where the word is at an offset.
    """

    offset: int = 0
    position: int = 0

    def places(self, places: Words, lengths: Words) -> Words:
        """The place of this word for each word, from 0; a place outside of the sentence is none.

        >>> places, lengths = np.array([0, 1, 2]), np.array([3, 3, 3])
        >>> FixedWord(1).places(places, lengths).tolist(), FixedWord(position=-1).places(places, lengths).tolist()
        ([1, 2, 3], [2, 2, 2])
        """
        if not self.position:
            return places + self.offset
        return lengths + self.position if self.position < 0 else np.full_like(places, self.position - 1)


def best_fixed_word(places: Words, heads: Words, lengths: Words) -> FixedWord:
    """The fixed word that is the head of most words; every offset and every position from either end is tried.

    Of equals an offset before a position, then the nearest (to the word, to the end), then the one to the left.

    * `places`, `heads`: of words and their heads in sentences of these lengths; the head of a root is `ROOT`.

    >>> best_fixed_word(np.array([0, 1, 3]), np.array([2, 2, 2]), np.array([5, 5, 5]))
    FixedWord(offset=0, position=3)
    """
    places, heads, lengths = (column[heads != ROOT] for column in (places, heads, lengths))
    ranked = [
        (-count, kind, abs(number), number)
        for kind, numbers in enumerate((heads - places, heads + 1, heads - lengths))
        for number, count in zip(*(column.tolist() for column in np.unique(numbers, return_counts=True)), strict=True)
    ]
    _, kind, _, number = min(ranked, default=(0, 0, 0, 0))
    return FixedWord(position=number) if kind else FixedWord(number)
