"""Which heads point at an antecedent: the same in loops over the definition, in any batches and blocks."""

from collections import Counter

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.linguistics.sentence import Example, Mention, Question, Sentence
from headscope.studies.heads.coreference.cases import Case, anaphoric, mentions, question_case
from headscope.studies.heads.coreference.observer import MentionObserver
from headscope.studies.heads.coreference.scores import AntecedentPredictions
from support.any_examples import overlapping, sentences, spoken
from support.made_inputs import inputs_of, maps_of
from support.made_mentions import answered, said

quick = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@st.composite
def mentioned(draw: st.DrawFn) -> Sentence:
    """A sentence of any characters with mentions of any of its words."""
    made = draw(sentences())
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(made.words) - 1))
        found.append(Mention(draw(st.sampled_from("ab")), start, draw(st.integers(start + 1, len(made.words)))))
    return Sentence(made.text, made.words, made.upos, mentions=tuple(found))


batches = st.lists(st.lists(mentioned(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)


def cases_of(example: Example) -> tuple[Case, ...]:
    return tuple(anaphoric(list(mentions(example.first))))


def naive(example: Example, attention: np.ndarray) -> list[list[int]]:
    """For each case that can be asked whether each head is right, with pairs of words one by one."""
    tokens = [its for _, all_of in overlapping(example, spoken(example)) for its in all_of]
    found = []
    for case in cases_of(example):
        words = sorted({candidate.word for candidate in case.candidates if tokens[candidate.word]})
        if not (tokens[case.mention.word] and case.right & set(words)):
            continue
        row = []
        for head in attention:
            weights = [
                np.mean([sum(head[query, key] for key in tokens[word]) for query in tokens[case.mention.word]])
                for word in words
            ]
            # Exact ties (of words that share all tokens) go to the first; rounding makes near ones of them.
            best = next(word for word, weight in zip(words, weights, strict=True) if weight > max(weights) - 1e-7)
            row.append(int(best in case.right))
        found.append(row)
    return found


@quick
@given(made=batches, block=st.integers(1, 6))
def test_answers_are_what_the_definition_says(made: list[tuple[Sentence, ...]], block: int) -> None:
    examples = [Example(str(number), sentences) for number, sentences in enumerate(made)]
    inputs = inputs_of(*examples)
    if not inputs:
        return
    layers = [maps_of(inputs, heads, seed=heads) for heads in (2, 3)]
    reader = MentionObserver({example.id: cases_of(example) for example in examples})
    answers = AntecedentPredictions.in_order([answered(reader, layers, inputs, block)])
    expected = [
        (encoded.index, row)
        for index, encoded in enumerate(inputs)
        if encoded.example is not None
        for row in naive(encoded.example, torch.cat([maps[index] for maps in layers]).double().numpy())
    ]
    assert answers.input.tolist() == [number for number, _ in expected]
    assert answers.unpacked(5).tolist() == [row for _, row in expected]


LONG = Example("l", (said("the cat saw her dog", ("cat", 0, 2), ("dog", 3, 5), ("cat", 3, 4)),))
SHORT = Example("s", (said("birdcat ran he", ("a", 0, 1), ("a", 2, 3)),))
CASES = {example.id: cases_of(example) for example in (LONG, SHORT)}


def test_a_batch_is_its_inputs_one_by_one() -> None:
    inputs = inputs_of(LONG, SHORT)
    maps = maps_of(inputs, 3, 0)
    batched = answered(MentionObserver(CASES), [maps], inputs)
    alone = AntecedentPredictions.in_order(
        [
            answered(MentionObserver(CASES), [[attention]], [encoded])
            for attention, encoded in zip(maps, inputs, strict=True)
        ][::-1]
    )
    for name in ("unit", "input", "position", "kind", "right", "guesses"):
        np.testing.assert_array_equal(getattr(batched, name), getattr(alone, name), err_msg=name)
    assert batched.input.tolist() == [0, 1] and batched.kind.tolist() == ["pronoun", "pronoun"]


def test_attention_to_special_tokens_is_that_of_the_mention_and_the_mean_of_other_words() -> None:
    (encoded,) = inputs_of(LONG)
    (maps,) = maps_of([encoded], 2, 0)
    answers = answered(MentionObserver(CASES), [[maps]], [encoded])
    special = maps.numpy()[:, :, encoded.token_class < 2].sum(-1)  # [head, query]
    of_word = {
        word: special[:, [token for other, token in encoded.pieces.tolist() if other == word]].mean(-1)
        for word in range(5)
    }
    # The case is that of "her"; all other words are others.
    np.testing.assert_allclose(answers.sink, [of_word[3]], atol=1e-3)
    np.testing.assert_allclose(answers.sink_others, [np.mean([of_word[word] for word in (0, 1, 2, 4)], 0)], atol=1e-3)


def test_words_that_are_no_candidates_are_not_looked_at() -> None:
    """All of the attention of "her" goes to words that are not mentioned, but for a little to "cat"."""
    (encoded,) = inputs_of(LONG)
    attention = torch.zeros(1, len(encoded), len(encoded))
    attention[0, :, 0] = 0.6
    attention[0, :, 3] = 0.3
    attention[0, 4, 2] = 0.1  # [CLS] the cat saw her dog [SEP]: her -> cat
    assert answered(MentionObserver(CASES), [[attention]], [encoded]).unpacked(1).tolist() == [[1]]


QUESTION = Example("q", (said("Ann met Bo as she ran", question=Question((4, 5), ((2, 3), (0, 1)), 1, "pro", "x")),))


def test_a_question_keeps_the_attention_to_its_first_candidate() -> None:
    (encoded,) = inputs_of(QUESTION)
    cases = {"q": (question_case(QUESTION.first[0], QUESTION.first[0].question),)}  # type: ignore[arg-type]
    pieces = {word: [token for of, token in encoded.pieces.tolist() if of == word] for word in range(6)}
    attention = torch.zeros(2, len(encoded), len(encoded))
    attention[0, pieces[4], pieces[2][0]] = 0.25
    attention[0, pieces[4], pieces[2][-1]] = 0.25
    attention[1, pieces[4], pieces[0][0]] = 0.125
    answers = answered(MentionObserver(cases, toward=True), [[attention]], [encoded])
    np.testing.assert_allclose(answers.toward, [[0.5, 0.0]])
    assert answers.unpacked(2).tolist() == [[0, 1]]
    assert (answers.answerable.tolist(), answers.first.tolist(), answers.question.tolist()) == ([True], [False], [True])
    assert (answers.gender.tolist(), answers.stereotype.tolist(), answers.pair.tolist()) == (
        ["feminine"],
        ["pro"],
        ["x"],
    )
    assert answered(MentionObserver(cases), [[attention]], [encoded]).toward.shape == (1, 0)


def test_what_has_no_token_is_counted_and_not_asked() -> None:
    gone = "\u200d\u00ad"
    lost_mention = Example("m", (said(f"cat {gone}", ("a", 0, 1), ("a", 1, 2)),))
    lost_antecedent = Example("a", (said(f"{gone} dog cat", ("a", 0, 1), ("b", 1, 2), ("a", 2, 3)),))
    lost_candidate = Example("c", (said(f"{gone} dog she", question=Question((2, 3), ((0, 1), (1, 2)), 1)),))
    cases = {example.id: cases_of(example) for example in (lost_mention, lost_antecedent)}
    cases["c"] = (question_case(lost_candidate.first[0], Question((2, 3), ((0, 1), (1, 2)), 1)),)
    counts: Counter[str] = Counter()
    inputs = inputs_of(lost_mention, lost_antecedent, lost_candidate)
    assert len(answered(MentionObserver(cases, counts=counts), [maps_of(inputs, 2, 0)], inputs)) == 0
    assert counts == {
        "mentions without a token": 1,
        "mentions whose antecedents have no token": 1,
        "questions with a candidate without a token": 1,
    }


def test_a_batch_that_asks_nothing_is_read_over() -> None:
    inputs = inputs_of(LONG)
    answers = answered(MentionObserver({"l": ()}), [maps_of(inputs, 2, 0)], inputs)
    assert len(answers) == 0
    asked_ = answered(MentionObserver(CASES), [maps_of(inputs, 2, 0)], inputs)
    assert (
        len(AntecedentPredictions.in_order([answers, asked_])) == 1
        and len(AntecedentPredictions.in_order([answers])) == 0
    )
