"""Tasks of sentences that are altered in half of the cases: coordinate clauses swapped, words swapped or replaced."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from headscope.linguistics.dependencies import Dependency
from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks import CONNEAU, WHOLE, ProbeCase, ProbingTask, dependencies
from headscope.studies.layers.layers.texts import Part, Texts

SUBJECTS = ("nsubj", "csubj", "expl")
# Words that keep their capital letter within a sentence.
CAPITAL = ("PROPN", "SYM", "X")
Kind = tuple[str, str]
LEAST_WORDS = 5
REPLACED = ("NOUN", "VERB")


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


def order_shifted(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two neighbouring words are swapped, in half of the sentences of 5 words or more; the first word stays."""
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        positions = [index for index in range(1, len(sentence.words) - 1) if _can_swap(sentence, index)]
        if len(sentence.words) < LEAST_WORDS or not positions:
            continue
        if random.random() < 0.5:
            yield ProbeCase(number, WHOLE, "as written")
        else:
            changed = Sentence(swapped(sentence, int(random.choice(positions))))
            yield ProbeCase(texts.add(changed, number), WHOLE, "shifted")


def odd_word(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether a noun or verb is replaced by another one, in half of the sentences of 5 words or more.

    The other has the same part of speech and the same morphology, and is the one of training sentences with the nearest
    frequency, of eight at random.
    """
    forms = _frequencies(texts)
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        positions = [index for index, tag in enumerate(sentence.upos) if tag in REPLACED and index]
        if len(sentence.words) < LEAST_WORDS or not positions:
            continue
        index = int(random.choice(positions))
        other = _other(sentence, index, forms, random)
        if other is None:
            continue
        if random.random() < 0.5:
            yield ProbeCase(number, WHOLE, "as written")
        else:
            start, end = sentence.words[index]
            changed = Sentence(sentence.text[:start] + other + sentence.text[end:])
            yield ProbeCase(texts.add(changed, number), WHOLE, "replaced")


def swapped(sentence: Sentence, index: int) -> str:
    """The text with two neighbouring words swapped; what stands between them stays.

    >>> swapped(Sentence("He ate it.", ((0, 2), (3, 6), (7, 9), (9, 10))), 1)
    'He it ate.'
    """
    (start, end), (begin, stop) = sentence.words[index : index + 2]
    text = sentence.text
    return text[:start] + text[begin:stop] + text[end:begin] + text[start:end] + text[stop:]


def _can_swap(sentence: Sentence, index: int) -> bool:
    """Whether two neighbours have characters of their own, stand apart, are no punctuation and differ."""
    first, second = sentence.words[index : index + 2]
    tags, forms = sentence.upos[index : index + 2], sentence.forms[index : index + 2]
    return bool(tags) and first[1] < second[0] and "PUNCT" not in tags and forms[0].lower() != forms[1].lower()


def _frequencies(texts: Texts) -> dict[Kind, list[tuple[str, int]]]:
    """The forms of nouns and verbs of training sentences by part of speech and morphology, with their frequencies."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for number in texts.order["train"]:
        sentence = texts.sentences[number]
        for index, tag in enumerate(sentence.upos):
            if tag in REPLACED:
                counts[(*_kind(sentence, index), sentence.forms[index])] += 1
    forms: dict[Kind, list[tuple[str, int]]] = defaultdict(list)
    for (tag, features, form), count in counts.items():
        forms[tag, features].append((form, count))
    return forms


def _kind(sentence: Sentence, index: int) -> Kind:
    return sentence.upos[index], sentence.morphology[index] if sentence.morphology else ""


def _other(
    sentence: Sentence, index: int, forms: dict[Kind, list[tuple[str, int]]], random: np.random.Generator
) -> str | None:
    others, own = forms.get(_kind(sentence, index), []), sentence.forms[index]
    count = next((count for form, count in others if form == own), 1)
    some = [others[int(at)] for at in random.integers(0, len(others), 8)] if others else []
    near = sorted((abs(np.log(other / count)), form) for form, other in some if form.lower() != own.lower())
    return near[0][1] if near else None


TASKS = (
    ProbingTask(
        "coordination_inverted",
        "coordinate clauses swapped",
        "dependency relations, and sentences of two clauses",
        CONNEAU,
        coordination_inverted,
    ),
    ProbingTask("order_shifted", "order of words shifted", "parts of speech", CONNEAU, order_shifted),
    ProbingTask("odd_word", "odd word out", "parts of speech", CONNEAU, odd_word),
)
