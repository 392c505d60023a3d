"""Tasks of spans and pairs of them: words (tag, index, ancestors, dependency), phrases, mentions of entities.

The last tasks are those of labelled spans: the corpus has their cases (kinds "spans", "senses" and "linear_rule").
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Mention, Sentence
from headscope.studies.layers.layers.tasks import ProbeCase, ProbingTask, Rule, dependencies, each_sentence
from headscope.studies.layers.layers.texts import Part, Texts, joined

# The index of a word is asked of the first words of a sentence.
FIRST = 20
NONE = "none"
PUNCTUATION = "punct"
TREES = "parts of speech and dependency trees"
LIU = "Liu et al. 2019, section 3, with heads instead of phrases"
# The number of a sentence, and a mention of it.
Placed = tuple[int, Mention]
NAME, SENSE = "span_label", "sense"
ROUND = 20  # cases of a word, before the next ones of it
MOST_GROUPS = 20
COUNTS = {1: "one span", 2: "two spans"}


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


def dependency_label(sentence: Sentence) -> Iterator[tuple]:
    """The relation of each word to its head, both given; without subtypes, roots and punctuation."""
    for word in dependencies(sentence):
        if word.head_position >= 0 and word.relation != PUNCTUATION and sentence.deprel:
            yield _two_words(word.position, word.head_position), word.relation, sentence.forms[word.position].lower()


def dependency_arc(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether the second word is the head of the first: each word with its head, and with another word at random."""
    for number in texts.order[part]:
        words = dependencies(texts.sentences[number])
        for word in words:
            others = [index for index in range(len(words)) if index not in (word.position, word.head_position)]
            if word.head_position >= 0 and word.relation != PUNCTUATION and others:
                yield ProbeCase(number, _two_words(word.position, word.head_position), "head")
                yield ProbeCase(number, _two_words(word.position, int(random.choice(others))), "other")


def constituent(sentence: Sentence) -> Iterator[tuple]:
    """The category of each phrase of two or more words."""
    labels = zip(sentence.phrases or (), sentence.phrase_labels, strict=True)
    yield from (((span,), label, sentence.forms[span[1] - 1].lower()) for span, label in labels if label)


def _two_words(first: int, second: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (first, first + 1), (second, second + 1)


def entity_kind(sentence: Sentence) -> Iterator[tuple]:
    """The kind of each mention of a named entity: a mention that has a proper noun, and its kind."""
    for mention in sentence.mentions or ():
        if mention.kind and "PROPN" in sentence.upos[mention.start : mention.end]:
            yield ((mention.start, mention.end),), mention.kind, sentence.forms[mention.end - 1].lower()


def coreference(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether two mentions of one sentence corefer: each pair that does, and equally many random pairs that do not.

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


def own_tasks(texts: Texts) -> list[ProbingTask]:
    """The task of the labels of all spans, then one for each group of tested spans; none without labelled spans.

    Where labels are senses of words, these are the one task. Groups share the training cases of the whole.

    Raises `HeadscopeError` if there are more than 20 groups.
    """
    spans = [span for sentence in texts.sentences for span in sentence.labelled]
    if not spans:
        return []
    if any(span.lemma for span in spans):
        return [SENSES]
    is_set = any(len(span.labels) != 1 for span in spans)
    tested = (texts.sentences[number] for number in texts.order["report"])
    groups = sorted({span.group for sentence in tested for span in sentence.labelled} - {""})
    if len(groups) > MOST_GROUPS:
        raise HeadscopeError(f"labelled spans have {len(groups)} groups, at most {MOST_GROUPS} are scored apart")
    words = "label of two spans" if len(spans[0].spans) > 1 else LABELLED.words
    named = [("", NAME, words)] + [(group, f"{NAME}: {group}", f"{words}: {group}") for group in groups]
    return [
        replace(LABELLED, name=name, words=words, cases=partial(span_label, group=group, is_set=is_set), is_set=is_set)
        for group, name, words in named
    ]


def span_label(
    texts: Texts, part: Part, random: np.random.Generator, group: str = "", is_set: bool = False
) -> Iterator[ProbeCase]:
    """The label, or set of labels, of each span or pair of spans; of tested ones those of a group."""
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        for span in sentence.labelled:
            if part != "report" or group in ("", span.group):
                word = " ".join(sentence.forms[slice(*span.spans[0])]).lower()
                yield ProbeCase(number, span.spans, span.labels if is_set else span.labels[0], word)


def senses(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """The senses of each word that a corpus labels: 20 cases of each word in turn, then the next 20 of each.

    Words come in the same order in all parts; of training cases those of words with one sense are left out.
    """
    by_word, kinds = defaultdict[str, list[ProbeCase]](list), defaultdict[str, set[str]](set)
    for number in texts.order[part]:
        for span in texts.sentences[number].labelled:
            if span.lemma and span.labels:
                kinds[span.lemma].add(span.labels[0])
                by_word[span.lemma].append(ProbeCase(number, span.spans, span.labels, span.lemma))
    several = (word for word in by_word if part != "train" or len(kinds[word]) > 1)
    words = sorted(several, key=lambda word: zlib.crc32(word.encode()))
    for first in range(0, max((len(by_word[word]) for word in words), default=0), ROUND):
        yield from (case for word in words for case in by_word[word][first : first + ROUND])


def refuse_mixed_spans(corpora: Sequence[Corpus]) -> None:
    """Raise `HeadscopeError` if one corpus labels single spans, and another one pairs."""
    names: dict[int, str] = {}
    for corpus in corpora:
        sentences = (sentence for example in corpus for sentence in example.sentences)
        if labelled := next((sentence.labelled for sentence in sentences if sentence.labelled), None):
            names.setdefault(len(labelled[0].spans), corpus.name)
    if len(names) > 1:
        said = " and ".join(f"'{name}' has {COUNTS[count]} a line" for count, name in names.items())
        raise HeadscopeError(f"{said}; give both files 'other_span', or none")


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
LABELLED = ProbingTask(
    NAME, "label of a span", "labelled spans (--kind spans)", "Tenney et al. 2019, on labels of the corpus", span_label
)
SENSES = ProbingTask(
    SENSE,
    "sense of a word",
    "spans labelled with senses (--kind senses)",
    "Wiedemann et al. 2019",
    senses,
    is_sense=True,
)
