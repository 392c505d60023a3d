"""Task of two coordinate clauses that are swapped in half of the sentences."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from headscope.linguistics.dependencies import Dependency
from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks.task import WHOLE, ProbeCase, ProbingTask, dependencies
from headscope.studies.layers.layers.texts import Part, Texts

SUBJECTS = ("nsubj", "csubj", "expl")
# Words that keep their capital letter within a sentence.
CAPITAL = ("PROPN", "SYM", "X")


class Clauses(NamedTuple):
    """The characters [start, end) of two clauses, and whether the first word of each keeps its letters."""

    first: tuple[int, int]
    second: tuple[int, int]
    kept: tuple[bool, bool]


def coordination_inverted(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two coordinate clauses that make up a sentence are swapped, in half of the sentences."""
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        clauses = two_clauses(sentence)
        if clauses is None:
            continue
        if random.random() < 0.5:
            yield ProbeCase(number, WHOLE, "as written")
        else:
            changed = Sentence(inverted(sentence.text, clauses))
            yield ProbeCase(texts.add(changed, number), WHOLE, "inverted")


def two_clauses(sentence: Sentence) -> Clauses | None:
    """The two clauses of a sentence that has no other part but the conjunction between them, and punctuation.

    Both have a subject; the second is the only conjunct of the root, and begins with its conjunction.
    """
    words = dependencies(sentence)
    root = next((word.position for word in words if word.head_position < 0), -1)
    conjuncts = [word.position for word in words if word.relation == "conj" and word.head_position == root]
    if root < 0 or len(conjuncts) != 1 or not sentence.deprel:
        return None
    above = [word.head_position for word in words]
    inside = [index for index in range(len(words)) if _is_below(index, conjuncts[0], above)]
    joint = [index for index in inside if words[index].relation == "cc" and above[index] == conjuncts[0]]
    last = max((index for index in range(len(words)) if words[index].relation != "punct"), default=-1)
    content = [index for index in inside if words[index].relation != "punct"]
    if len(joint) != 1 or content != list(range(joint[0], last + 1)):
        return None
    before = [index for index in range(joint[0]) if words[index].relation != "punct"]
    if not before or not all(_has_subject(words, clause) for clause in (root, conjuncts[0])) or joint[0] == last:
        return None
    second = joint[0] + 1
    kept = _keeps(sentence, before[0]), _keeps(sentence, second)
    return Clauses(_characters(sentence, before[0], before[-1]), _characters(sentence, second, last), kept)


def _characters(sentence: Sentence, first: int, last: int) -> tuple[int, int]:
    """The characters of some words that follow each other."""
    return sentence.words[first][0], sentence.words[last][1]


def inverted(text: str, clauses: Clauses) -> str:
    """The text with its clauses swapped; the first letter of the sentence is a capital, as it was.

    >>> inverted("He slept, but Ann ate.", Clauses((0, 8), (14, 21), (False, True)))
    'Ann ate, but he slept.'
    """
    (start, end), (begin, stop) = clauses.first, clauses.second
    first, second = text[start:end], text[begin:stop]
    if text[start].isupper():
        second = second[:1].upper() + second[1:]
        first = first if clauses.kept[0] else first[:1].lower() + first[1:]
    return text[:start] + second + text[end:begin] + first + text[stop:]


def _has_subject(words: Sequence[Dependency], clause: int) -> bool:
    return any(word.head_position == clause and word.relation in SUBJECTS for word in words)


def _is_below(index: int, top: int, above: Sequence[int]) -> bool:
    while index >= 0 and index != top:
        index = above[index]
    return index == top


def _keeps(sentence: Sentence, index: int) -> bool:
    """Whether the first letter of a word stays as it is within a sentence: of names, of "I", and of "USA"."""
    form = sentence.forms[index]
    tag = sentence.upos[index] if sentence.upos else ""
    return tag in CAPITAL or form == "I" or (len(form) > 1 and not form[1:].islower())


CONNEAU = "Conneau et al. 2018, section 2"
TASKS = (
    ProbingTask(
        "coordination_inverted",
        "coordinate clauses swapped",
        "dependency relations, and sentences of two clauses",
        CONNEAU,
        coordination_inverted,
    ),
)
