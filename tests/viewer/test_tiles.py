"""Tiles against attention: within a 255th of the maximum of the row, at every zoom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.viewer.tiles import LEVELS, OVERVIEW, TILE, Tile, cut, overview, pack, quantised, unpack, zoom_of

SEEDS = st.integers(0, 2**32 - 1)


def attention(side: int, seed: int) -> np.ndarray:
    """Rows of very different sharpness, as heads have them."""
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(side, generator.choice([0.02, 0.3, 5.0])), side)


def naive(weights: np.ndarray, zoom: int) -> np.ndarray:
    step, side = 1 << zoom, len(weights)
    starts = range(0, side, step)
    return np.array([[weights[row : row + step, column : column + step].max() for column in starts] for row in starts])


@given(st.integers(1, 90), SEEDS, st.integers(0, 5))
def test_pooled_cells_are_the_maximum_of_their_tokens(side: int, seed: int, zoom: int) -> None:
    weights = attention(side, seed)
    tile, expected = cut(quantised(weights), zoom, 0, 0), naive(weights, zoom)
    assert tile.levels.shape == expected.shape
    np.testing.assert_allclose(tile.maximum, expected.max(1), rtol=1e-6)
    assert (abs(tile.attention - expected) <= expected.max(1, keepdims=True) / LEVELS + 1e-7).all()


@pytest.mark.parametrize("side", [256, 257, 700])
def test_tiles_cover_the_map_once(side: int) -> None:
    weights = attention(side, side)
    for zoom in range(zoom_of(side, TILE) + 1):
        expected = naive(weights, zoom)
        parts = range(-(-len(expected) // TILE))
        tiles = [[cut(quantised(weights), zoom, row, column) for column in parts] for row in parts]
        joined = np.block([[tile.attention for tile in row] for row in tiles])
        assert joined.shape == expected.shape
        assert (abs(joined - expected) <= expected.max(1, keepdims=True) / LEVELS + 1e-7).all()


@given(st.integers(1, 200), SEEDS)
def test_overview_is_relative_to_the_largest_of_the_map(side: int, seed: int) -> None:
    weights = attention(side, seed)
    largest, levels = overview(quantised(weights), OVERVIEW)
    expected = naive(weights, zoom_of(side, OVERVIEW))
    assert max(levels.shape) <= OVERVIEW and largest == pytest.approx(weights.max(), rel=1e-6)
    # Rounded once for its row and once for the map, and once more where cells were pooled.
    assert (abs(levels * largest / LEVELS - expected) <= 1.5 * weights.max() / LEVELS + 1e-7).all()


@given(st.integers(1, 20), st.integers(1, 20), SEEDS)
def test_packed_tiles_are_read_back(height: int, width: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    tile = Tile(generator.random(height, np.float32), generator.integers(0, 256, (height, width)).astype(np.uint8))
    again = unpack(pack(tile))
    np.testing.assert_array_equal(again.maximum, tile.maximum)
    np.testing.assert_array_equal(again.levels, tile.levels)


def test_a_row_without_attention_is_zero() -> None:
    tile = cut(quantised(np.zeros((5, 5))), 1, 0, 0)
    assert not tile.levels.any() and not tile.maximum.any()
