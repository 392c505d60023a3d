"""Every comparison on attention whose value is known in closed form."""

from math import log, sqrt

import pytest
import torch

from headscope.measures.comparisons import js_divergence, padded_similarity, similarity
from headscope.testing.hand_made import compared, looks_at, tokens, uniform

FOUR = tokens("coos")


def value(comparison, one, other, inputs=FOUR, **options) -> float:
    """The value of the first input's only head."""
    found = compared(comparison, [one], [other], [inputs], **options)
    assert found.valid.tolist() == [True]
    return float(found.values[0, 0])


def test_a_map_is_like_itself() -> None:
    sharp = (5 * torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(0))).softmax(-1)
    for attention in (sharp, uniform(4), looks_at([0, 0, 1, 3])):
        assert value(similarity, attention, attention) == pytest.approx(1, abs=1e-6)
        assert value(js_divergence, attention, attention) == pytest.approx(0, abs=1e-6)


def test_rounding_takes_no_cosine_above_1() -> None:
    random = torch.Generator().manual_seed(0)
    scores = [torch.randn(1, 4, 4, generator=random) for _ in range(200)]
    close = [(one.softmax(-1), (one + 1e-4 * torch.randn(1, 4, 4, generator=random)).softmax(-1)) for one in scores]
    assert max(value(similarity, one, other) for one, other in close) <= 1


def test_maps_that_have_no_token_in_common() -> None:
    one, other = looks_at([0, 1, 2, 3]), looks_at([1, 2, 3, 0])
    assert value(similarity, one, other) == 0
    assert value(js_divergence, one, other) == pytest.approx(log(2))


def test_maps_that_have_some_rows_in_common() -> None:
    one, other = looks_at([0, 1, 2, 3]), looks_at([0, 1, 3, 2])
    assert value(similarity, one, other) == pytest.approx(1 / 2)
    assert value(js_divergence, one, other) == pytest.approx(log(2) / 2)


@pytest.mark.parametrize("length", [2, 4, 7])
def test_uniform_and_certain_maps(length: int) -> None:
    one, other = uniform(length), looks_at(range(length))
    inputs = tokens("o" * length)
    assert value(similarity, one, other, inputs) == pytest.approx(1 / sqrt(length))
    own, rest = (1 + 1 / length) / 2, 1 / (2 * length)
    mixed = -own * log(own) - (length - 1) * rest * log(rest)
    assert value(js_divergence, one, other, inputs) == pytest.approx(mixed - log(length) / 2)


def test_the_order_of_models_changes_nothing() -> None:
    one, other = looks_at([0, 0, 1, 3]), uniform(4)
    for comparison in (similarity, padded_similarity, js_divergence):
        assert value(comparison, one, other) == pytest.approx(value(comparison, other, one))


def test_rows_of_padding_count_in_the_padded_similarity_alone() -> None:
    inputs = [FOUR, tokens("c" + "o" * 8 + "s")]
    ones, others = [looks_at([0, 1, 2, 3]), uniform(10)], [looks_at([1, 2, 3, 0]), uniform(10)]
    padded = compared(padded_similarity, ones, others, inputs).values[:, 0]
    real = compared(similarity, ones, others, inputs).values[:, 0]
    # Six rows of padding look at the four tokens alike in both models: 6/4 of products, 4 + 6/4 of squares.
    assert padded.tolist() == pytest.approx([1.5 / 5.5, 1], abs=1e-6)
    assert real.tolist() == pytest.approx([0, 1], abs=1e-6)
