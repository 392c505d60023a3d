"""Tasks of mentions: kind of the entity, and whether two mentions of a sentence or of two sentences corefer."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from headscope.linguistics.sentence import Mention, Sentence
from headscope.studies.layers.layers.tasks.task import ProbeCase, ProbingTask, each_sentence
from headscope.studies.layers.layers.texts import Part, Texts, joined

# The number of a sentence, and a mention of it.
Placed = tuple[int, Mention]


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
        yield from (ProbeCase(number, _spans(*other[index]), "other") for index in chosen)


def coreference_across(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two mentions of two sentences of a window corefer.

    Each mention with the nearest that corefers in an earlier sentence, and with another of the antecedent's sentence.
    """
    for window in texts.windows.get(part, ()):
        sentences = [texts.sentences[number] for number in window]
        joint, firsts = joined(sentences)
        pairs = list(_antecedents(sentences))
        examples = tuple(number for sentence in window for number in texts.examples[sentence])
        text = texts.add(joint, window[0], examples) if pairs else -1
        for (index, mention), (before, antecedent) in pairs:
            others = [other for other in sentences[before].mentions or () if other.entity != mention.entity]
            if others:
                later, other = _span(mention, firsts[index]), others[random.integers(len(others))]
                yield ProbeCase(text, (_span(antecedent, firsts[before]), later), "same")
                yield ProbeCase(text, (_span(other, firsts[before]), later), "other")


def _antecedents(sentences: Sequence[Sentence]) -> Iterator[tuple[Placed, Placed]]:
    """Each mention whose entity has one in an earlier sentence, and the last of these, with their sentences."""
    last: dict[str, Placed] = {}
    for index, sentence in enumerate(sentences):
        mentions = sentence.mentions or ()
        yield from (((index, mention), last[mention.entity]) for mention in mentions if mention.entity in last)
        last |= {mention.entity: (index, mention) for mention in mentions}


def _span(mention: Mention, first: int = 0) -> tuple[int, int]:
    return first + mention.start, first + mention.end


def _overlap(first: Mention, second: Mention) -> bool:
    return first.start < second.end and second.start < first.end


def _spans(first: Mention, second: Mention) -> tuple[tuple[int, int], tuple[int, int]]:
    return _span(first), _span(second)


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
    ProbingTask(
        "coreference_across",
        "coreference across sentences",
        "documents with coreference",
        "Tenney et al. 2019",
        coreference_across,
    ),
)
