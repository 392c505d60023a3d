"""Synthetic maps: seeded, of all lengths, rows that sum to 1, and each part of them where it is said to be."""

import numpy as np
import pytest

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.grid import LEAST_TOKENS, MOST_TOKENS
from pattern_workshop import synthetic_shapes
from pattern_workshop.synthetic import MAKERS, batch, synthetic

pytestmark = pytest.mark.thorough


def canvas(maps: int = 40, length: int = 40, causal: bool = False, seed: int = 0) -> synthetic_shapes.Canvas:
    return synthetic_shapes.canvas(np.random.default_rng(seed), maps, length, causal)


def test_the_patterns_are_alike_and_lengths_go_from_4_to_512() -> None:
    made = list(synthetic(600, seed=0))
    labels = np.concatenate([batch.labels for batch in made])
    assert 600 <= len(labels) < 615
    assert len(set(np.bincount(labels, minlength=len(PATTERNS)))) == 1
    lengths = [batch.attention.shape[1] for batch in made]
    assert LEAST_TOKENS <= min(lengths) <= 8
    assert 300 <= max(lengths) <= MOST_TOKENS
    for drawn in made:
        np.testing.assert_allclose(drawn.attention.sum(-1), 1, atol=1e-4)
        assert drawn.attention.min() >= 0


def test_a_seed_gives_the_same_maps() -> None:
    one, same, other = (next(synthetic(60, seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.attention, same.attention)
    np.testing.assert_array_equal(one.classes, same.classes)
    assert one.attention.shape != other.attention.shape or not np.allclose(one.attention, other.attention)


def test_causal_maps_look_back_only() -> None:
    for pattern in PATTERNS:
        made = MAKERS[pattern](canvas(causal=True))
        assert np.isfinite(made).all()
    rng = np.random.default_rng(0)
    batches = [batch(rng, 2, 12).attention for _ in range(60)]
    causal = [not np.triu(attention, 1).any() for attention in batches]
    assert 0 < sum(causal) < 30


def test_bands_are_close_to_the_diagonal_and_stripes_are_far() -> None:
    one = canvas()
    weight = abs(one.distance)
    assert ((synthetic_shapes.band(one) * weight).sum((1, 2)) / synthetic_shapes.band(one).sum((1, 2))).max() < 10
    stripes = synthetic_shapes.stripes(one)
    assert (stripes * (weight < 10)).sum() == 0
    assert stripes.sum() > 0
    assert np.triu(synthetic_shapes.stripes(canvas(causal=True)), 1).sum() == 0
