"""Noun phrases and named entities are those of a naive reading of the tree, and are masked whole."""

import numpy as np
import pytest

from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.training.pretrain.blocks import COLUMNS
from headscope.studies.training.pretrain.plan import PlannedModel, PretrainingPlan, Schedule, Shape
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.streams import streams
from headscope.studies.training.pretrain.text import LabText, lab_text
from headscope.studies.training.pretrain.units import (
    BEFORE,
    NAME,
    NOUNS,
    UNITS,
    named_entities,
    noun_phrases,
    require_units,
)
from support.claim_texts import corpus, repeated, treebank
from support.tiny import tiny_tokenizer


def forms(sentence: Sentence, spans: object) -> list[str]:
    return [" ".join(sentence.forms[start:end]) for start, end in spans]  # type: ignore[attr-defined]


def naive_phrases(sentence: Sentence) -> set[tuple[int, int]]:
    """Of each noun that is in no other phrase: it, and the subtrees of what joins it, as far as they are neighbours."""

    def subtree(word: int) -> set[int]:
        below = [other for other, head in enumerate(sentence.heads) if head == word + 1]
        return {word}.union(*map(subtree, below))

    def joins(word: int) -> bool:
        relation, before = sentence.deprel[word].split(":")[0], word < sentence.heads[word] - 1
        return sentence.heads[word] > 0 and (relation in NAME or (relation in BEFORE and before))

    joining = [word for word in range(len(sentence.words)) if joins(word)]
    inside = {other for word in joining for other in subtree(word)}
    phrases = set()
    for noun in range(len(sentence.words)):
        if sentence.upos[noun] not in NOUNS or noun in inside:
            continue
        members = {noun}
        while more := {o for w in joining if sentence.heads[w] - 1 in members for o in subtree(w)} - members:
            members |= more
        start = end = noun
        while start - 1 in members:
            start -= 1
        while end + 1 in members:
            end += 1
        phrases |= {(start, end + 1)} if end > start else set()
    return phrases


def test_noun_phrases_are_those_of_a_naive_reading() -> None:
    number = 0
    for example in read("sample"):
        for sentence in example.sentences:
            assert set(noun_phrases(sentence)) == naive_phrases(sentence), sentence.text
            number += len(naive_phrases(sentence))
    assert number > 50


def test_names_are_mentions_with_a_proper_noun_as_their_head() -> None:
    sentences = [sentence for example in read("sample") for sentence in example.sentences if sentence.mentions]
    found = [form for sentence in sentences for form in forms(sentence, named_entities(sentence))]
    assert "Joost" in found and "Petra" in found and not {"I", "it", "the bakery", "your bicycle"} & set(found)


@pytest.fixture(scope="module")
def text() -> LabText:
    return lab_text(tiny_tokenizer(), treebank(0, 60), PretrainingPlan(ways="phrases"), 32, 0)


def test_phrases_are_masked_whole(text: LabText) -> None:
    model = PlannedModel("phrases", "phrases", Shape(1, 2, 8))
    examples = PretrainingRun(model, 3, Schedule(max_tokens=32).recipe, text, {}, None).examples.train  # type: ignore[arg-type]
    longest = 0
    for index, block in enumerate(text.train):
        rows = np.concatenate([block.first, block.second])
        phrases = rows[:, COLUMNS.index("phrase")]
        _, pieces = examples[index]
        hidden = np.delete(pieces != -100, [0, len(block.first) + 1, len(rows) + 2])
        for phrase in np.unique(phrases):
            assert len(set(hidden[phrases == phrase].tolist())) == 1
        words = [len(set(rows[phrases == phrase, COLUMNS.index("word")])) for phrase in np.unique(phrases)]
        longest = max(longest, *words)
    assert longest > 1, "some phrases have several words"


def test_words_without_a_phrase_are_their_own_units() -> None:
    plain = streams(tiny_tokenizer(), repeated(0, 3))[0].rows
    assert all(np.array_equal(plain[:, 1], plain[:, column]) for column in range(2, 2 + len(UNITS)))


def test_a_part_of_the_text_is_read_for_as_many_steps(text: LabText) -> None:
    third = text.part(0.3)
    assert len(third.train) == round(0.3 * len(text.train)) and len(third.epoch) == len(text.epoch) == len(text.train)
    assert {id(block) for block in third.epoch} == {id(block) for block in third.train}
    places = [next(n for n, block in enumerate(text.train) if block is part) for part in third.train]
    assert np.diff(places).min() >= 3, "it is spread over the text"
    assert text.part(1.0).epoch == text.epoch


def test_a_corpus_without_the_annotation_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="has no dependency trees; name a treebank"):
        require_units(repeated(0, 3), "phrase")
    with pytest.raises(HeadscopeError, match="has no mentions of entities; use a treebank that has some"):
        require_units(treebank(0, 3), "entity")
    require_units(corpus([Example("1", (Sentence("x"),))]), "word")
