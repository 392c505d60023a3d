"""Measures of two segments, on attention whose value is known in closed form."""

import pytest
import torch

from headscope.measures import same_word, same_word_gain, segment_attention
from headscope.testing.hand_made import looks_at, measured, tokens, uniform

# [CLS] a b c [SEP] b d e [SEP]
PAIR = tokens("cooosooos", pair=".abc.bde.")
LENGTH = 9
B, COPY = 2, 5


def values(measure, maps, inputs=PAIR):
    found = measured(measure, [maps], [inputs])
    return torch.where(found.valid[0], found.values[0, 0], torch.nan).tolist()


def test_a_head_that_looks_at_copies_gives_them_all() -> None:
    rows = looks_at([0, 0, COPY, 0, 0, B, 0, 0, 0])
    assert values(same_word, rows) == [1, 0, 0]
    assert values(same_word_gain, rows) == [1, 1]


def test_a_head_that_looks_so_far_ahead_gives_words_as_far_apart_as_much() -> None:
    # Three tokens ahead and three back: a looks at none, c at d, as b at its copy.
    rows = looks_at([0, 0, COPY, 6, 0, B, 3, 0, 0])
    assert values(same_word, rows) == [1, 1, 0]
    assert values(same_word_gain, rows) == [0, 1]


def test_a_head_in_which_all_look_at_the_copy_gives_it_as_much_from_others() -> None:
    rows = looks_at([COPY] * 5 + [B] * 4)
    assert values(same_word, rows) == [1, 0, 1]
    assert values(same_word_gain, rows) == [1, 0]


def test_a_uniform_head_gains_nothing() -> None:
    assert values(same_word, uniform(LENGTH)) == pytest.approx([1 / LENGTH] * 3)
    assert values(same_word_gain, uniform(LENGTH)) == pytest.approx([0, 0], abs=1e-7)


def test_words_weigh_the_same_however_many_copies_they_have() -> None:
    # w a x, a y a z: the first a looks at one of its copies, the second one at it, the third one at none.
    twice = tokens("cooosoooos", pair=".wax.ayaz.")
    rows = looks_at([0, 0, 5, 0, 0, 2, 0, 0, 0, 0])
    assert values(same_word, rows, twice)[0] == pytest.approx((0.5 + 1 + 0) / 3)


def test_without_a_copy_or_without_a_second_segment_there_is_no_value() -> None:
    nothing = [tokens("coosoos", pair=".ab.cd."), tokens("coosoos"), tokens("coosoos", pair=".ab....")]
    assert all(value != value for inputs in nothing for value in values(same_word, uniform(7), inputs))
    assert values(segment_attention, uniform(7), nothing[0]) == pytest.approx([2 / 7, 2 / 7])
    assert all(value != value for value in values(segment_attention, uniform(7), nothing[1]))


def test_words_that_all_have_copies_at_one_distance_cannot_be_compared() -> None:
    assert all(value != value for value in values(same_word, uniform(7), tokens("coosoos", pair=".ab.ab.")))


def test_attention_within_and_across_segments_is_that_of_words_to_words() -> None:
    # b and its copy look at each other, c at itself, all others at special tokens.
    rows = looks_at([0, 0, COPY, 3, 0, B, 4, 8, 0])
    assert values(segment_attention, rows) == pytest.approx([1 / 6, 2 / 6])
