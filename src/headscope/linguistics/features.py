"""Linguistic features of the words of a sentence, and links between its words.

Features are those of Kovaleva et al. 2019, section 4.4; links those of section 4.5.
"""

import re
from collections.abc import Iterator

from headscope.linguistics.sentence import Mention, Sentence
from headscope.results.vocabulary import FEATURES, RELATIONS

# Footnote 6 of the paper; words ending in n't (any auxiliary) stand for its list of contractions, and cannot is as
# much a negation as its can't. MRPC writes contractions with a blank: doesn 't.
NEGATION = re.compile(r"\b(?:neither|nor|not|never|none|nothing|nowhere|cannot)\b|n ?['’]t\b", re.IGNORECASE)
BY_UPOS = {"NOUN": "noun", "PROPN": "noun", "VERB": "verb", "PRON": "pron", "PUNCT": "punct"}
BY_RELATION = {"nsubj": "subj", "csubj": "subj", "obj": "obj", "iobj": "obj"}
NUMBER = {name: number for number, name in enumerate(FEATURES)}
LINK = {name: number for number, name in enumerate(RELATIONS)}

Span = tuple[int, int]


def features(sentence: Sentence) -> Iterator[tuple[int, Span]]:
    """The number of each feature in `results.FEATURES`, with the characters that have it."""
    for span, upos in zip(sentence.words, sentence.upos, strict=bool(sentence.upos)):
        if upos in BY_UPOS:
            yield NUMBER[BY_UPOS[upos]], span
    for span, relation in zip(sentence.words, sentence.deprel, strict=bool(sentence.deprel)):
        if (name := BY_RELATION.get(relation.partition(":")[0])) is not None:
            yield NUMBER[name], span
    for match in NEGATION.finditer(sentence.text):
        yield NUMBER["neg"], match.span()


def links(sentence: Sentence) -> Iterator[tuple[int, int, int]]:
    """(number of the relation in `results.RELATIONS`, source word, target word), words counted from 0."""
    for verb, subject in _verbs_and_subjects(sentence):
        yield LINK["verb_to_subject"], verb, subject
        yield LINK["subject_to_verb"], subject, verb
    for pronoun, noun in _pronouns_and_nouns(sentence):
        yield LINK["pronoun_to_noun"], pronoun, noun
        yield LINK["noun_to_pronoun"], noun, pronoun


def _verbs_and_subjects(sentence: Sentence) -> Iterator[tuple[int, int]]:
    if not sentence.upos:
        return
    for word, (head, relation) in enumerate(zip(sentence.heads, sentence.deprel, strict=False)):
        if BY_RELATION.get(relation.partition(":")[0]) == "subj" and head and sentence.upos[head - 1] == "VERB":
            yield head - 1, word


def _pronouns_and_nouns(sentence: Sentence) -> Iterator[tuple[int, int]]:
    if not sentence.upos:
        return
    if sentence.mentions is None:
        mentioned = [(word, "") for word in range(len(sentence.words))]
    else:
        mentioned = sorted({(mention_head(sentence, mention), mention.entity) for mention in sentence.mentions})
    for pronoun, entity in mentioned:
        if sentence.upos[pronoun] == "PRON":
            for noun, other in mentioned:
                if other == entity and sentence.upos[noun] in ("NOUN", "PROPN"):
                    yield pronoun, noun


def mention_head(sentence: Sentence, mention: Mention) -> int:
    """The word of a mention whose syntactic head lies outside of it; its last word where there are no heads."""
    for word in range(mention.start, mention.end):
        if sentence.heads and not mention.start < sentence.heads[word] <= mention.end:
            return word
    return mention.end - 1
