"""What a treebank asks about each of its words: where is its syntactic head?"""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.types import Example, Sentence

ROOT = -1


class Asked(NamedTuple):
    """A word with its syntactic head.

    * `word`, `head`: numbered through all sentences of the example, from 0; the head of a root is `ROOT`.
    * `place`: of the word in its sentence, from 0, and `length`: how many words that has.
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


def asked(example: Example, subtypes: bool = False) -> Iterator[Asked]:
    """Every word of an example whose sentence has a tree; relations without their subtypes, or with them.

    >>> sentence = Sentence("She slept", ((0, 3), (4, 9)), heads=(2, 0), deprel=("nsubj:outer", "root"))
    >>> [(each.word, each.head, each.relation) for each in asked(Example("1", (sentence,)))]
    [(0, 1, 'nsubj'), (1, -1, 'root')]
    """
    before = 0
    for sentence in example.sentences:
        for place, head in enumerate(sentence.heads):
            found = before + head - 1 if head else ROOT
            relation = _relation(sentence, place, subtypes)
            yield Asked(before + place, found, place, len(sentence.words), relation)
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
