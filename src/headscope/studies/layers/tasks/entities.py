"""Tasks of mentions: kind of the entity, and whether two mentions of a sentence corefer."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from headscope.studies.layers.tasks.task import ProbeCase, ProbingTask, each_sentence
from headscope.studies.layers.texts import Part, Texts
from headscope.types import Mention, Sentence


def entity_kind(sentence: Sentence) -> Iterator[tuple]:
    """The kind of each mention of a named entity: a mention that has a proper noun, and its kind."""
    for mention in sentence.mentions or ():
        if mention.kind and "PROPN" in sentence.upos[mention.start : mention.end]:
            yield ((mention.start, mention.end),), mention.kind, sentence.forms[mention.end - 1].lower()


def coreference(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two mentions of one sentence corefer: each pair that does, and as many random pairs that do not.

    Mentions that overlap make no pair.
    """
    for number in texts.order[part]:
        pairs = [pair for pair in combinations(texts.sentences[number].mentions or (), 2) if not _overlap(*pair)]
        same = [pair for pair in pairs if pair[0].entity == pair[1].entity]
        other = [pair for pair in pairs if pair[0].entity != pair[1].entity]
        chosen = random.permutation(len(other))[: len(same)].tolist()
        yield from (ProbeCase(number, _spans(*pair), "same") for pair in same)
        yield from (ProbeCase(number, _spans(*other[place]), "other") for place in chosen)


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


def _spans(one: Mention, other: Mention) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one.start, one.end), (other.start, other.end)


TASKS = (
    ProbingTask(
        "entity",
        "named entity",
        "mentions with the kind of their entity",
        "Tenney et al. 2019",
        each_sentence(entity_kind),
    ),
    ProbingTask(
        "coreference", "coreference", "coreference", "Tenney et al. 2019, with pairs in one sentence", coreference
    ),
)
