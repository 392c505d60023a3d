"""The syntactic head of each word of a treebank."""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.linguistics.sentence import Example, Sentence

ROOT = -1


class Dependency(NamedTuple):
    """A word with its syntactic head.

    * `word`, `head`: numbered through all sentences of the example, from 0; the head of a root is `ROOT`.
    * `place`: the place of the word in its sentence, from 0; `length`: the number of words of the sentence.
    * `relation`: of the word to its head; "root" for a root, and "dep" where the treebank has no relations.
    """

    word: int
    head: int
    place: int
    length: int
    relation: str

    @property
    def head_place(self) -> int:
        """The place of the head in the sentence, or `ROOT`."""
        return ROOT if self.head == ROOT else self.head - self.word + self.place


def dependencies_of(example: Example, subtypes: bool = False) -> Iterator[Dependency]:
    """Every word of an example whose sentence has a tree; relations without their subtypes, or with them.

    >>> sentence = Sentence("She slept", ((0, 3), (4, 9)), heads=(2, 0), deprel=("nsubj:outer", "root"))
    >>> [(each.word, each.head, each.relation) for each in dependencies_of(Example("1", (sentence,)))]
    [(0, 1, 'nsubj'), (1, -1, 'root')]
    """
    before = 0
    for sentence in example.sentences:
        for place, head in enumerate(sentence.heads):
            head_word = before + head - 1 if head else ROOT
            relation = _relation(sentence, place, subtypes)
            yield Dependency(before + place, head_word, place, len(sentence.words), relation)
        before += len(sentence.words)


def sentence_numbers(example: Example) -> list[int]:
    """The number of each word's sentence within the example, from 0."""
    return [number for number, sentence in enumerate(example.sentences) for _ in sentence.words]


def _relation(sentence: Sentence, place: int, subtypes: bool) -> str:
    if not sentence.heads[place]:
        return "root"
    if not sentence.deprel:
        return "dep"
    return sentence.deprel[place] if subtypes else sentence.deprel[place].partition(":")[0]
