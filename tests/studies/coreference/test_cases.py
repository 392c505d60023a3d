"""Which mentions are asked about, with which candidates; and how heads of mentions are found."""

import pytest

from headscope.linguistics.sentence import Question
from headscope.studies.heads.coreference.cases import anaphoric, mentions, question_case
from support.made_mentions import headed, said


def found(*mentions_, since: int = 0) -> dict[int, tuple[list[int], list[int]]]:
    """For each mention that is asked about, by its head word: the head words of its candidates, and the right ones."""
    return {
        case.mention.word: ([one.word for one in case.candidates], sorted(case.right))
        for case in anaphoric(mentions_, since=since)
    }


def test_candidates_are_the_mentions_before_and_antecedents_those_of_the_same_entity() -> None:
    made = [headed(1, "cat"), headed(4, "dog"), headed(6, "cat"), headed(9, "bird"), headed(11, "cat")]
    assert found(*made) == {6: ([1, 4], [1]), 11: ([1, 4, 6, 9], [1, 6])}


def test_mentions_inside_of_a_mention_are_no_candidates_of_it() -> None:
    ann, her_cat = headed(0, "ann"), headed(2, "cat", forms="ann 's cat")
    assert found(ann, her_cat, headed(5, "cat")) == {5: ([0, 2], [2])}
    assert found(headed(0, "e"), headed(1, "e", forms="cat cat")) == {}
    outer = headed(1, "e", start=0, forms="the man with a hat")
    assert found(outer, headed(4, "e")) == {4: ([1], [1])}


def test_a_head_word_after_the_mention_is_no_candidate_even_if_the_mention_starts_before() -> None:
    outer = headed(5, "e", start=0, forms="the very old and small cat")
    assert found(outer, headed(3, "e")) == {}


def test_a_word_that_heads_two_mentions_is_right_for_the_entities_of_both() -> None:
    john, both = headed(0, "john", forms="john"), headed(0, "both", start=0, forms="john and mary")
    assert found(john, both, headed(5, "both"), headed(6, "john")) == {5: ([0, 0], [0]), 6: ([0, 0, 5], [0])}


def test_a_mention_of_the_same_head_word_is_no_antecedent() -> None:
    assert found(headed(0, "e", start=0, forms="cat of ann"), headed(0, "e")) == {}


def test_only_mentions_since_a_word_are_asked_about() -> None:
    made = [headed(1), headed(4), headed(7)]
    assert list(found(*made, since=4)) == [4, 7] and list(found(*made, since=5)) == [7]


def test_a_question_has_its_own_candidates_on_both_sides() -> None:
    sentence = said("Ann saw her and Bo Lee .")
    one = question_case(sentence, Question((2, 3), ((0, 1), (4, 6)), 1), unit=7)
    assert (one.mention.word, [candidate.word for candidate in one.candidates], sorted(one.right)) == (2, [0, 5], [5])
    assert one.mention.kind == "pronoun" and one.unit == 7
    assert question_case(sentence, Question((2, 3), ((0, 1), (4, 6)), None)).right == frozenset()


def test_what_cannot_be_read_is_no_candidate() -> None:
    (one,) = [case for case in anaphoric([headed(0), headed(1), headed(2)]) if case.mention.word == 2]
    left = one.where([False, True, True])
    assert [candidate.word for candidate in left.candidates] == [1] and left.right == {1}


def test_heads_are_found_by_the_tree_and_without_one_are_the_last_word() -> None:
    text, mention = "the cat of Ann slept", ("e1", 0, 4)
    (by_tree,) = mentions([said(text, mention, heads=[2, 5, 4, 2, 0])])
    (last,) = mentions([said(text, mention)])
    assert (by_tree.word, by_tree.head, last.word, last.head) == (1, "cat", 3, "ann")
    assert by_tree.forms == ("the", "cat", "of", "ann")


def test_words_are_numbered_through_all_sentences() -> None:
    found_ = mentions([said("the cat slept", ("e1", 0, 2)), said("it ran", ("e1", 0, 1))])
    assert [(mention.word, mention.start, mention.end) for mention in found_] == [(1, 0, 2), (3, 3, 4)]


@pytest.mark.parametrize(
    ("word", "upos", "kind"),
    [
        ("him", "PRON", "pronoun"),
        ("seine", "DET", "pronoun"),
        ("Ann", "PROPN", "proper"),
        ("cat", "NOUN", "nominal"),
        ("said", "VERB", "nominal"),
        ("Him", "", "pronoun"),
        ("Ann", "", "proper"),
        ("cat", "", "nominal"),
    ],
)
def test_kinds_of_mentions(word: str, upos: str, kind: str) -> None:
    (found_,) = mentions([said(word, ("e1", 0, 1), upos=upos)])
    assert found_.kind == kind
