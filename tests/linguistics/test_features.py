"""Which words have which feature, and which are linked."""

import pytest

from headscope.linguistics.features import LINK, NUMBER, features, links, mention_head
from headscope.linguistics.sentence import Mention, Sentence


def negations(text: str) -> list[str]:
    return [text[start:end] for number, (start, end) in features(Sentence(text)) if number == NUMBER["neg"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is not here, nor there.", ["not", "nor"]),
        ("Neither Nothing NOWHERE none never", ["Neither", "Nothing", "NOWHERE", "none", "never"]),
        ("Note the knot; another noted northern nonentity", []),
        ("I don't, can’t and WON'T.", ["n't", "n’t", "N'T"]),
        ("It doesn 't fit", ["n 't"]),
        ("aunt n'tx 't in 'time no cannoth", []),
        ("She cannot, and Cannot", ["cannot", "Cannot"]),
        ("not-for-profit (not)", ["not", "not"]),
        ("日本not語", []),
    ],
)
def test_negation_is_whole_words_of_the_list_and_contractions(text: str, found: list[str]) -> None:
    assert negations(text) == found


def named(sentence: Sentence) -> set[tuple[str, str]]:
    names = {number: name for name, number in NUMBER.items()}
    return {(names[number], sentence.text[start:end]) for number, (start, end) in features(sentence)}


def test_parts_of_speech_and_relations_are_features() -> None:
    made = Sentence(
        "Ann gave him that , said who left",
        ((0, 3), (4, 8), (9, 12), (13, 17), (18, 19), (20, 24), (25, 28), (29, 33)),
        ("PROPN", "VERB", "PRON", "PRON", "PUNCT", "AUX", "PRON", "VERB"),
        (2, 0, 2, 2, 2, 2, 8, 2),
        ("nsubj:pass", "root", "iobj", "obj", "punct", "dep", "csubj", "obl:arg"),
    )
    assert named(made) == {
        *{("noun", "Ann"), ("subj", "Ann"), ("verb", "gave"), ("pron", "him"), ("obj", "him"), ("pron", "that")},
        *{("obj", "that"), ("punct", ","), ("pron", "who"), ("subj", "who"), ("verb", "left")},
    }


def test_a_text_without_annotation_has_negations_only() -> None:
    assert named(Sentence("The cat did not sleep.")) == {("neg", "not")}
    assert list(links(Sentence("The cat did not sleep."))) == []


def linked(sentence: Sentence, relation: str) -> set[tuple[str, str]]:
    forms = sentence.forms
    return {(forms[source], forms[target]) for number, source, target in links(sentence) if number == LINK[relation]}


def made(text: str, upos: str, heads: tuple[int, ...], deprel: str, mentions=None) -> Sentence:
    words, at = [], 0
    for word in text.split():
        words.append((at, at + len(word)))
        at += len(word) + 1
    return Sentence(text, tuple(words), tuple(upos.split()), heads, tuple(deprel.split()), mentions)


SHE = made(
    "Ann knew that the boys and she were late",
    "PROPN VERB SCONJ DET NOUN CCONJ PRON AUX ADJ",
    (2, 0, 9, 5, 9, 7, 5, 9, 2),
    "nsubj root mark det nsubj cc conj cop ccomp",
)


def test_subjects_are_linked_to_verbs_both_ways_and_not_to_other_predicates() -> None:
    assert linked(SHE, "verb_to_subject") == {("knew", "Ann")}
    assert linked(SHE, "subject_to_verb") == {("Ann", "knew")}


def test_a_root_that_is_called_subject_has_no_verb() -> None:
    assert not list(links(made("Ann", "VERB", (0,), "nsubj")))


def test_without_coreference_all_pronouns_and_nouns_of_a_sentence_are_linked() -> None:
    assert linked(SHE, "pronoun_to_noun") == {("she", "Ann"), ("she", "boys")}
    assert linked(SHE, "noun_to_pronoun") == {("Ann", "she"), ("boys", "she")}


def with_mentions(*mentions: Mention) -> Sentence:
    return Sentence(SHE.text, SHE.words, SHE.upos, SHE.heads, SHE.deprel, mentions)


def test_with_coreference_only_those_of_one_entity_are() -> None:
    found = with_mentions(Mention("ann", 0, 1), Mention("boys", 3, 5), Mention("ann", 6, 7))
    assert linked(found, "pronoun_to_noun") == {("she", "Ann")}
    assert linked(found, "noun_to_pronoun") == {("Ann", "she")}


def test_a_sentence_whose_corpus_found_no_mentions_has_no_such_links() -> None:
    assert linked(with_mentions(), "pronoun_to_noun") == set()
    assert linked(with_mentions(Mention("ann", 0, 1), Mention("other", 6, 7)), "pronoun_to_noun") == set()


def test_the_head_of_a_mention_is_the_word_that_depends_on_something_outside() -> None:
    assert mention_head(SHE, Mention("boys", 3, 5)) == 4
    assert mention_head(SHE, Mention("boys", 3, 7)) == 4
    assert mention_head(SHE, Mention("all", 0, 9)) == 1
    assert mention_head(Sentence("the old man", ((0, 3), (4, 7), (8, 11))), Mention("man", 0, 3)) == 2
