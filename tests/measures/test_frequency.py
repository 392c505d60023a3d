"""Measures of frequent and rare pieces, on attention whose value is known in closed form."""

import pytest
import torch

from headscope.measures import frequency_attention, frequency_correlation
from headscope.testing.hand_made import looks_at, measured, tokens, uniform

# [CLS] a b . c d [SEP]; the counts of a, b, c, d; the class of a count is the count.
TEXT = tokens("coopoos", counts=[-1, 0, 1, -1, 1, 4, -1])
LENGTH = 7
TO_RAREST = looks_at([6, 1, 1, 1, 1, 1, 6])


def values(measure, maps, inputs=TEXT):
    found = measured(measure, [maps], [inputs])
    return torch.where(found.valid[0], found.values[0, 0], torch.nan).tolist()


def test_uniform_attention_gives_each_class_1_and_has_no_direction() -> None:
    nan = float("nan")
    assert values(frequency_attention, uniform(LENGTH)) == pytest.approx([1, 1, nan, nan, 1], nan_ok=True)
    assert values(frequency_correlation, uniform(LENGTH)) == 0


def test_a_head_that_looks_at_one_piece_gives_it_all_that_uniform_attention_spreads() -> None:
    found = values(frequency_attention, TO_RAREST)
    # Five queries of the text give it all; even ones would give it a seventh each.
    assert [found[number] for number in (0, 1, 4)] == pytest.approx([LENGTH, 0, 0])


def test_a_head_that_looks_at_special_tokens_is_below_1_for_all_classes() -> None:
    found = values(frequency_attention, looks_at([6] * LENGTH))
    assert [found[number] for number in (0, 1, 4)] == [0, 0, 0]
    assert values(frequency_correlation, looks_at([6] * LENGTH)) == 0


def test_special_queries_count_for_nothing() -> None:
    ours, other = TO_RAREST, TO_RAREST.clone()
    other[0, [0, 6]] = torch.eye(LENGTH)[5]
    assert values(frequency_attention, ours)[0] == values(frequency_attention, other)[0]
    assert values(frequency_correlation, ours) == values(frequency_correlation, other)


def test_the_correlation_is_that_of_ranks() -> None:
    # Counts 0, 1, 1, 4: their ranks 1, 2.5, 2.5, 4; a gets most, then c, b, d.
    rows = uniform(LENGTH).clone()
    rows[0, :] = torch.tensor([0, 0.5, 0.1, 0, 0.3, 0.05, 0.05])
    ranks = torch.tensor([[1, 2.5, 2.5, 4], [4.0, 2, 3, 1]]) - 2.5
    expected = (ranks[0] @ ranks[1] / (ranks[0].norm() * ranks[1].norm())).item()
    assert values(frequency_correlation, rows) == pytest.approx(expected) and expected < -0.9


def test_of_causal_attention_uniform_is_over_what_a_query_sees() -> None:
    text = tokens("oooo", counts=[-1, 0, 2, 2], causal=True)
    rows = torch.ones(4, 4).tril()[None]
    rows /= rows.sum(-1, keepdim=True)
    assert values(frequency_attention, rows, text)[0] == pytest.approx(1)
    assert values(frequency_attention, rows, text)[2] == pytest.approx(1)
    assert values(frequency_correlation, rows, text) == 0


def test_few_tokens_one_count_or_none_have_no_correlation() -> None:
    few = tokens("coos", counts=[-1, 0, 3, -1])
    alike = tokens("cooos", counts=[-1, 2, 2, 2, -1])
    assert all(values(frequency_correlation, uniform(len(one)), one) != 0 for one in (few, alike, tokens("cooos")))
    assert all(value != value for value in values(frequency_attention, uniform(5), tokens("cooos")))
