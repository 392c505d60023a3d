"""Tasks of pairs of words in a dependency tree: label of the dependency, and whether there is one."""

from collections.abc import Iterator

import numpy as np

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.tasks.task import ProbeCase, ProbingTask, dependencies, each_sentence
from headscope.studies.layers.texts import Part, Texts

PUNCTUATION = "punct"


def dependency_label(sentence: Sentence) -> Iterator[tuple]:
    """The relation of each word to its head, both given; without subtypes, roots and punctuation."""
    for each in dependencies(sentence):
        if each.head_place >= 0 and each.relation != PUNCTUATION and sentence.deprel:
            yield _spans(each.place, each.head_place), each.relation, sentence.forms[each.place].lower()


def dependency_arc(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether the second word is the head of the first: each word with its head, and with another word at random."""
    for number in texts.order[part]:
        words = dependencies(texts.sentences[number])
        for each in words:
            others = [place for place in range(len(words)) if place not in (each.place, each.head_place)]
            if each.head_place >= 0 and each.relation != PUNCTUATION and others:
                yield ProbeCase(number, _spans(each.place, each.head_place), "head")
                yield ProbeCase(number, _spans(each.place, int(random.choice(others))), "other")


def _spans(one: int, other: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one, one + 1), (other, other + 1)


TASKS = (
    ProbingTask(
        "dependency_label",
        "dependency label",
        "dependency relations",
        "Tenney et al. 2019",
        each_sentence(dependency_label),
    ),
    ProbingTask("dependency_arc", "head of a word", "dependency trees", "Liu et al. 2019, section 3", dependency_arc),
)
