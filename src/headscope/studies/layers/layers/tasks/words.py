"""Tasks of words and of pairs of words: tag, index, ancestors, constituent, label of a dependency, its head."""

from collections.abc import Iterator

import numpy as np

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks.task import ProbeCase, ProbingTask, Rule, dependencies, each_sentence
from headscope.studies.layers.layers.texts import Part, Texts

# The index of a word is asked of the first words of a sentence.
FIRST = 20
NONE = "none"
PUNCTUATION = "punct"


def tag_of(kind: str) -> Rule:
    """The rule of the tag of each word: its universal part of speech ("upos"), or that of its chunk ("chunks")."""

    def cases(sentence: Sentence) -> Iterator[tuple]:
        tags = getattr(sentence, kind)
        for index, (tag, form) in enumerate(zip(tags, sentence.forms if tags else (), strict=True)):
            yield ((index, index + 1),), tag, form.lower()

    return each_sentence(cases)


def token_index(sentence: Sentence) -> Iterator[tuple]:
    """The place of each of the first 20 words in its sentence."""
    yield from ((((index, index + 1),), str(index + 1)) for index in range(min(FIRST, len(sentence.words))))


def ancestor(generation: int) -> Rule:
    """The rule of the part of speech of an ancestor: 1 for the head, 2 for its head, 3 for the head of that."""

    def cases(sentence: Sentence) -> Iterator[tuple]:
        if sentence.upos and sentence.heads:
            above = [word.head_position for word in dependencies(sentence)]
            for index in range(len(above)):
                at = index
                for _ in range(generation):
                    at = above[at] if at >= 0 else at
                yield ((index, index + 1),), sentence.upos[at] if at >= 0 else NONE, sentence.forms[index].lower()

    return each_sentence(cases)


TREES = "parts of speech and dependency trees"
LIU = "Liu et al. 2019, section 3, with heads in the place of phrases"


def dependency_label(sentence: Sentence) -> Iterator[tuple]:
    """The relation of each word to its head, both given; without subtypes, roots and punctuation."""
    for word in dependencies(sentence):
        if word.head_position >= 0 and word.relation != PUNCTUATION and sentence.deprel:
            yield _spans(word.position, word.head_position), word.relation, sentence.forms[word.position].lower()


def dependency_arc(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether the second word is the head of the first: each word with its head, and with another word at random."""
    for number in texts.order[part]:
        words = dependencies(texts.sentences[number])
        for word in words:
            others = [index for index in range(len(words)) if index not in (word.position, word.head_position)]
            if word.head_position >= 0 and word.relation != PUNCTUATION and others:
                yield ProbeCase(number, _spans(word.position, word.head_position), "head")
                yield ProbeCase(number, _spans(word.position, int(random.choice(others))), "other")


def constituent(sentence: Sentence) -> Iterator[tuple]:
    """The category of each phrase of two or more words."""
    labels = zip(sentence.phrases or (), sentence.phrase_labels, strict=True)
    yield from (((span,), label, sentence.forms[span[1] - 1].lower()) for span, label in labels if label)


def _spans(first: int, second: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (first, first + 1), (second, second + 1)


TASKS = (
    ProbingTask("part_of_speech", "part of speech", "parts of speech", "Tenney et al. 2019", tag_of("upos")),
    ProbingTask("chunk", "chunk", "chunks (CoNLL-2000)", "Liu et al. 2019, section 3", tag_of("chunks")),
    ProbingTask("token_index", "index of the word", "words", "Lin et al. 2019, section 4", each_sentence(token_index)),
    ProbingTask("parent", "parent", TREES, LIU, ancestor(1)),
    ProbingTask("grandparent", "grandparent", TREES, LIU, ancestor(2)),
    ProbingTask("great_grandparent", "great-grandparent", TREES, LIU, ancestor(3)),
    ProbingTask(
        "dependency_label",
        "dependency label",
        "dependency relations",
        "Tenney et al. 2019",
        each_sentence(dependency_label),
    ),
    ProbingTask("constituent", "constituent", "phrases (brackets)", "Tenney et al. 2019", each_sentence(constituent)),
    ProbingTask("dependency_arc", "head of a word", "dependency trees", "Liu et al. 2019, section 3", dependency_arc),
)
