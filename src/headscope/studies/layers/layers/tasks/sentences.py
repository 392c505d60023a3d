"""Tasks of sentences: main auxiliary and subject, length, depth, top constituents, number, tense, words that occur."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from headscope.linguistics.dependencies import Dependency
from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks import (
    CONNEAU,
    WHOLE,
    ProbeCase,
    ProbingTask,
    dependencies,
    each_sentence,
    feature,
)
from headscope.studies.layers.layers.texts import Part, Texts

NOMINAL = ("NOUN", "PROPN", "PRON")
MOST_TOPS, OTHER_TOP = 19, "another"
LENGTHS = (5, 9, 13, 17, 21, 26, 34)
DEPTHS = (1, 8)
NUMBERS = {"Sing": "singular", "Plur": "plural"}
TENSES = {"Past": "past", "Pres": "present"}


def main_of(tags: tuple[str, ...], relation: str):
    """The rule of the word that has a relation to the root, among two or more words of some parts of speech.

    Sentences in which not exactly one of them has that relation are left out.
    """

    def cases(sentence: Sentence) -> Iterator[tuple]:
        words = dependencies(sentence)
        candidates = [word for word in words if sentence.upos and sentence.upos[word.position] in tags]
        main = [
            word.position
            for word in candidates
            if word.relation == relation and words[word.head_position].head_position < 0 <= word.head_position
        ]
        if len(candidates) > 1 and len(main) == 1:
            yield from (
                (((word.position, word.position + 1),), "main" if word.position == main[0] else "other")
                for word in candidates
            )

    return cases


RELATIONS = "parts of speech and dependency relations"
LIN = "Lin et al. 2019, section 4, on sentences of a treebank"


# Words of content: their parts of speech, the sentences that must have them, and how many words at most.
CONTENT, LEAST_SENTENCES, MOST_WORDS = ("NOUN", "VERB", "ADJ", "PROPN"), 20, 50


def sentence_length(sentence: Sentence) -> Iterator[tuple]:
    """The number of words, in bins that begin at 5, 9, 13, 17, 21, 26 and 34; shorter sentences are left out."""
    length = bisect_right(LENGTHS, len(sentence.words))
    if length:
        yield WHOLE, f"{LENGTHS[length - 1]}+"


def tree_depth(sentence: Sentence) -> Iterator[tuple]:
    """The largest number of edges between a word and the root, from 1 to 8 or more."""
    above = [word.head_position for word in dependencies(sentence)]
    deepest = 0
    for index in range(len(above)):
        depth, at = 0, above[index]
        while at >= 0:
            depth, at = depth + 1, above[at]
        deepest = max(deepest, depth)
    if deepest:
        yield WHOLE, str(min(deepest, DEPTHS[1]))


def top_constituents(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Categories of the parts of the outermost clause ("NP VP ."): the 19 most frequent of training, else "another"."""
    counts = Counter(top for number in texts.order["train"] if (top := texts.sentences[number].top))
    frequent = {top for top, _ in counts.most_common(MOST_TOPS)}
    for number in texts.order[part]:
        if top := texts.sentences[number].top:
            yield ProbeCase(number, WHOLE, " ".join(top) if top in frequent else OTHER_TOP)


def number_of(relation: str):
    """The rule of the number of the only subject ("nsubj") or object ("obj") of the root."""

    def cases(sentence: Sentence) -> Iterator[tuple]:
        words = dependencies(sentence)
        positions = [
            word.position for word in words if word.relation == relation and _is_root(words, word.head_position)
        ]
        if len(positions) == 1 and (number := NUMBERS.get(feature(sentence, positions[0], "Number"))):
            yield WHOLE, number

    return cases


def tense(sentence: Sentence) -> Iterator[tuple]:
    """The tense of the main clause: of the only finite verb that is the root or an auxiliary or copula of it."""
    words = dependencies(sentence)
    main = [
        word.position
        for word in words
        if word.head_position < 0 or (word.relation in ("aux", "cop") and _is_root(words, word.head_position))
    ]
    finite = [index for index in main if feature(sentence, index, "VerbForm") == "Fin"]
    if len(finite) == 1 and (label := TENSES.get(feature(sentence, finite[0], "Tense"))):
        yield WHOLE, label


def word_content(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """The word that occurs, of 50: the nouns, verbs and adjectives that most training sentences have, at least 20.

    Sentences with none or several of these words are left out.
    """
    counts = Counter(form for number in texts.order["train"] for form in _content(texts.sentences[number]))
    words = {form for form, count in counts.most_common(MOST_WORDS) if count >= LEAST_SENTENCES}
    for number in texts.order[part]:
        present = _content(texts.sentences[number]) & words
        if len(present) == 1:
            yield ProbeCase(number, WHOLE, present.pop())


def _content(sentence: Sentence) -> set[str]:
    return {form.lower() for form, tag in zip(sentence.forms, sentence.upos, strict=False) if tag in CONTENT}


def _is_root(words: Sequence[Dependency], index: int) -> bool:
    return index >= 0 and words[index].head_position < 0


NUMBER = "dependency trees and the feature Number"
TASKS = (
    ProbingTask("main_auxiliary", "main auxiliary", RELATIONS, LIN, each_sentence(main_of(("AUX",), "aux"))),
    ProbingTask("main_subject", "subject of the main clause", RELATIONS, LIN, each_sentence(main_of(NOMINAL, "nsubj"))),
    ProbingTask("sentence_length", "length of the sentence", "words", CONNEAU, each_sentence(sentence_length)),
    ProbingTask("tree_depth", "depth of the tree", "dependency trees", CONNEAU, each_sentence(tree_depth)),
    ProbingTask("top_constituents", "top constituents", "phrases (brackets)", CONNEAU, top_constituents),
    ProbingTask("subject_number", "number of the subject", NUMBER, CONNEAU, each_sentence(number_of("nsubj"))),
    ProbingTask("object_number", "number of the object", NUMBER, CONNEAU, each_sentence(number_of("obj"))),
    ProbingTask("tense", "tense", "dependency trees and the feature Tense", CONNEAU, each_sentence(tense)),
    ProbingTask(
        "word_content", "word that occurs", "parts of speech, and 20 sentences with one word", CONNEAU, word_content
    ),
)
