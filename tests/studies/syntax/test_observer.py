"""Which heads are right about which words: the same in loops over the definition, in any batches and blocks."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.syntax.scores import HeadPredictions
from headscope.testing.hand_made import looks_at
from support.any_examples import sentences
from support.made_answers import answered, naive, tree
from support.made_inputs import inputs_of, maps_of

quick = settings(max_examples=15, deadline=None, derandomize=True, database=None)


@st.composite
def trees(draw: st.DrawFn) -> Sentence:
    """A sentence of any characters in which each word hangs on any other, but for a root."""
    made = draw(sentences())
    words = len(made.words)
    root = draw(st.integers(0, words - 1))
    heads = [
        draw(st.integers(1, words).filter(lambda head, own=word + 1: head != own or words == 1))
        for word in range(words)
    ]
    heads[root] = 0
    return Sentence(made.text, made.words, made.upos, tuple(heads), made.deprel)


examples = st.builds(
    Example,
    st.just("made"),
    st.lists(trees(), min_size=1, max_size=2).map(tuple),
    st.lists(trees(), max_size=1).map(tuple),
)
batches = st.lists(examples, min_size=1, max_size=3)
# Two pairs of words have the same token, as "im" (in dem) has two: sums over it are not always rounded in the same way.
MULTIWORD = Sentence("aaaaaa", ((0, 2), (2, 5), (2, 5), (5, 6), (5, 6)), (), (2, 0, 1, 1, 1), ("det",) * 5)
ONE_WORD = Sentence("a", ((0, 1),), (), (0,), ("root",))


@pytest.mark.parametrize("as_coded", [False, True])
@quick
@given(made=batches, block=st.integers(1, 6))
@example(made=[Example("made", (MULTIWORD, ONE_WORD))], block=4)
@example(made=[Example("made", (MULTIWORD,), (ONE_WORD,))], block=4)
def test_answers_are_what_the_definition_says(as_coded: bool, made: list[Example], block: int) -> None:
    inputs = inputs_of(*made)
    if not inputs:
        return
    layers = [maps_of(inputs, heads, seed=heads) for heads in (2, 3)]
    answers = answered(DependencyObserver(as_coded=as_coded), layers, inputs, block)
    found = {
        (input, word): its
        for input, word, its in zip(answers.input.tolist(), answers.word.tolist(), answers.equals.tolist(), strict=True)
    }
    expected = {
        (encoded.index, word): its.astype(int).tolist()
        for number, encoded in enumerate(inputs)
        for word, its in naive(encoded.example, np.concatenate([maps[number] for maps in layers]), as_coded).items()
    }
    assert found == expected
    of_sink = {
        (encoded.index, word): [
            float(np.mean([of_head[token, encoded.token_class < 2].sum() for token in tokens])) for of_head in stacked
        ]
        for index, encoded in enumerate(inputs)
        for stacked in [np.concatenate([maps[index].numpy() for maps in layers])]
        for word, tokens in tokens_of(encoded.pieces).items()
    }
    lengths = {(one.index, word): len(its) for one in inputs for word, its in tokens_of(one.pieces).items()}
    assert answers.tokens.tolist() == [
        lengths[at] for at in zip(answers.input.tolist(), answers.word.tolist(), strict=True)
    ]
    for input, word, sink in zip(answers.input.tolist(), answers.word.tolist(), answers.sink.tolist(), strict=True):
        assert sink == pytest.approx(of_sink[input, word], abs=1e-3)  # two bytes


def tokens_of(pieces: np.ndarray) -> dict[int, list[int]]:
    """The tokens of each word."""
    words: dict[int, list[int]] = {}
    for word, token in pieces.tolist():
        words.setdefault(word, []).append(token)
    return words


PAIR = Example(
    "p", (tree("the cat saw her", (2, 3, 0, 3), "det nsubj root obj"),), (tree("it ran", (2, 0), "nsubj root"),)
)
SHORT = Example("s", (tree("birdcat sat", (2, 0), "nsubj root"),))


def test_a_batch_is_its_inputs_one_by_one() -> None:
    inputs = inputs_of(PAIR, SHORT)
    maps = maps_of(inputs)
    batched = answered(DependencyObserver(), [maps], inputs)
    alone = HeadPredictions.in_order(
        [
            answered(DependencyObserver(), [[attention]], [encoded])
            for attention, encoded in zip(maps, inputs, strict=True)
        ][::-1]
    )
    for name in ("input", "unit", "word", "position", "head", "length", "relation", "equals"):
        np.testing.assert_array_equal(getattr(batched, name), getattr(alone, name))
    assert batched.position.tolist() == [0, 1, 2, 3, 0, 1, 0, 1] and batched.head.tolist() == [
        1,
        2,
        -1,
        2,
        1,
        -1,
        1,
        -1,
    ]
    assert batched.length.tolist() == [4] * 4 + [2] * 4 and batched.word.tolist() == [0, 1, 2, 3, 4, 5, 0, 1]


def test_words_of_another_sentence_and_special_tokens_are_no_candidates() -> None:
    (encoded,) = inputs_of(PAIR)
    # [CLS] the cat saw her [SEP] it ran [SEP]: all look at "ran", most of all, and at [CLS]
    attention = looks_at([7] * len(encoded)) * 0.6 + looks_at([0] * len(encoded)) * 0.3
    attention[0, 1, 2] = attention[0, 4, 3] = 0.1  # the -> cat, her -> saw
    right = answered(DependencyObserver(), [[attention]], [encoded]).equals[:, 0, 0]
    assert right.tolist() == [1, 3, 0, 1, 1, 0]  # cat looks at no word: the three others share its prediction


def test_a_word_whose_head_has_no_token_is_counted_and_left_out() -> None:
    lost = Example("l", (tree("the \u200d\u00ad ran dog", (2, 3, 0, 3), "det nsubj root obj"),))
    counts: Counter[str] = Counter()
    inputs = inputs_of(lost)
    answers = answered(DependencyObserver(counts=counts), [maps_of(inputs)], inputs)
    assert answers.word.tolist() == [2, 3]
    assert counts == {"words whose head has no token": 1}


def test_sentences_without_a_tree_ask_nothing() -> None:
    bare = Example("b", (Sentence("the cat ran", ((0, 3), (4, 7), (8, 11))),))
    inputs = inputs_of(bare, SHORT)
    assert answered(DependencyObserver(), [maps_of(inputs)], inputs).input.tolist() == [1, 1]
    assert len(answered(DependencyObserver(), [maps_of(inputs[:1])], inputs[:1])) == 0


def test_relations_keep_their_subtypes_only_if_asked() -> None:
    made = Example("s", (tree("it was seen", (3, 3, 0), "nsubj:pass aux:pass root"),))
    inputs = inputs_of(made)
    for subtypes, expected in ((False, ["nsubj", "aux", "root"]), (True, ["nsubj:pass", "aux:pass", "root"])):
        assert answered(DependencyObserver(subtypes=subtypes), [maps_of(inputs)], inputs).relation.tolist() == expected
