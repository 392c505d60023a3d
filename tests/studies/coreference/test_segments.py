"""Documents in segments: nothing is asked twice, and what is cut off is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Question, Sentence
from headscope.studies.heads.coreference.segments import Context, Plan, parts, plan
from support.made_inputs import corpus_of
from support.made_mentions import said

CONTEXTS: tuple[Context, ...] = ("segments", "first", "windows")


@pytest.mark.parametrize("context", CONTEXTS)
@given(sizes=st.lists(st.integers(1, 30), max_size=12), room=st.integers(5, 60))
def test_every_sentence_is_new_once_and_parts_are_no_longer_than_there_is_room(
    context: Context, sizes: list[int], room: int
) -> None:
    found = parts(sizes, room, context)
    new = [sentence for part in found for sentence in range(part.new, part.stop)]
    assert new == list(range(len(new)))
    assert len(new) == len(sizes) or (context == "first" and len(found) == 1)
    for part in found:
        assert part.start <= part.new < part.stop
        assert sum(sizes[part.start : part.stop]) <= room or part.stop - part.start == 1
        assert context == "windows" or part.start == part.new


def test_segments_are_filled() -> None:
    assert [part[1:] for part in parts([3, 3, 3, 9, 2, 2], 9, "segments")] == [(0, 3), (3, 4), (4, 6)]
    assert [tuple(part) for part in parts([3, 3, 3, 9, 2, 2], 9, "windows")] == [(0, 0, 3), (3, 3, 4), (4, 4, 6)]
    assert [tuple(part) for part in parts([2] * 6, 8, "windows")] == [(0, 0, 4), (2, 4, 6)]


def mentioning(entity: str, scope: str = "d1", text: str = "the cat") -> Example:
    """One sentence of two words that is one mention."""
    mention = (entity, 0, 2)
    return Example("x", (said(text, mention, document=scope),))


def planned(*examples: Example, room: int = 4, **options) -> Plan:
    """A plan in which each word has one token."""
    return plan(corpus_of(examples), lambda texts: [len(text.split()) for text in texts], room, **options)


def heads_asked(found: Plan) -> list[list[tuple[int, list[int]]]]:
    """For each input the mentions that are asked about, each with its candidates, by their head words."""
    return [
        [(case.mention.word, [candidate.word for candidate in case.candidates]) for case in found.cases[example.id]]
        for example in found.inputs
    ]


def test_antecedents_are_looked_for_within_a_segment() -> None:
    found = planned(*map(mentioning, "aabba"))
    assert heads_asked(found) == [[(3, [1])], [(3, [1])], []]
    assert [len(example.first) for example in found.inputs] == [2, 2, 1]
    assert found.inputs.n_examples == 3 and found.inputs.skipped == {"mentions whose antecedents are all cut off": 1}


def test_windows_look_back_and_ask_nothing_twice() -> None:
    found = planned(*map(mentioning, "aabba"), room=8, context="windows")
    assert heads_asked(found) == [[(3, [1]), (7, [1, 3, 5])], [(7, [1, 3, 5])]]
    assert found.inputs.skipped == {}


def test_passes_read_the_segments_of_a_corpus_that_is_not_in_memory(streamed: None) -> None:
    found = plan(read("sample"), lambda texts: [len(text.split()) for text in texts], 60)
    assert [encoded.id for encoded in found.inputs.since(0)] == list(found.cases)


def test_the_first_segment_only() -> None:
    found = planned(*map(mentioning, "aabba"), context="first")
    assert heads_asked(found) == [[(3, [1])]]
    assert found.inputs.skipped == {
        "sentences after the first segment": 3,
        "mentions whose antecedents are all cut off": 2,
    }


def test_documents_are_not_mixed() -> None:
    found = planned(mentioning("a"), mentioning("a", "d2"), mentioning("a", "d2"), room=99)
    assert heads_asked(found) == [[], [(3, [1])]]
    assert [case.unit for cases in found.cases.values() for case in cases] == [1]


def test_without_singletons_entities_that_are_mentioned_once_are_no_candidates() -> None:
    made = list(map(mentioning, "abac"))
    assert heads_asked(planned(*made, room=99)) == [[(5, [1, 3])]]
    assert heads_asked(planned(*made, room=99, singletons=False)) == [[(5, [1])]]


def test_both_sides_of_a_pair_are_read_together() -> None:
    pair = Example("p", mentioning("a").first, mentioning("a").first)
    assert heads_asked(planned(pair, room=99)) == [[(3, [1])]]


def test_questions_are_asked_of_the_examples_as_they_are() -> None:
    def example(id: str, pair: str) -> Example:
        question = Question((1, 2), ((0, 1),), 0, "pro", pair)
        return Example(id, (Sentence("Ann she", ((0, 3), (4, 7)), question=question),))

    corpus = corpus_of([example("1", "x"), example("2", ""), example("3", "x")])
    found = plan(corpus, lambda texts: [], 1)
    assert list(found.inputs) == list(corpus) and found.questions and found.stereotypes
    assert found.inputs.skipped == {"sentences without a partner": 2}
    assert [found.cases[id][0].unit for id in "123"] == [0, 1, 0]


def test_a_corpus_without_coreference_or_antecedents_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="'made' has no coreference; name a treebank with Entity="):
        planned(Example("a", (Sentence("the cat"),)))
    with pytest.raises(HeadscopeError, match="no mention has an antecedent in 4 tokens; use more --tokens"):
        planned(mentioning("a"), mentioning("b"), mentioning("c"))
