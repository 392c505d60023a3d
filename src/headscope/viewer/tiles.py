"""Attention maps as bytes: rows in 255 steps of their maximum, pooled to a zoom and cut into tiles.

At zoom z a cell is the maximum of 2^z x 2^z tokens. A row is relative to its own largest attention, so that faint rows
keep their shape. Each step of rounding loses at most half of a 255th of the row's maximum.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from headscope.results.variables import places

LEVELS = 255
TILE = 256
OVERVIEW = 64
# The largest attention of each map, and the levels of the maps relative to it.
Overview = tuple[Float[np.ndarray, "layer head"], UInt8[np.ndarray, "layer head row column"]]


@dataclass(frozen=True)
class Tile:
    """A part of a map: the largest attention of each row of the whole map, and attention in 255ths of it."""

    maximum: Float[np.ndarray, " row"]
    levels: UInt8[np.ndarray, "row column"]

    @property
    def attention(self) -> Float[np.ndarray, "row column"]:
        """The attention that the levels stand for."""
        return self.maximum[:, None] * self.levels / LEVELS


def quantised(attention: Float[np.ndarray, "query key"]) -> Tile:
    """A whole map as a tile.

    >>> tile = quantised(np.array([[0.5, 0.25], [0.0, 0.0]]))
    >>> tile.levels.tolist(), tile.maximum.tolist()
    ([[255, 128], [0, 0]], [0.5, 0.0])
    """
    maximum = attention.max(1).astype(np.float32)
    scaled = attention / np.where(maximum > 0, maximum, 1)[:, None] * LEVELS
    return Tile(maximum, np.rint(scaled).astype(np.uint8))


def cut(tile: Tile, zoom: int, row: int, column: int) -> Tile:
    """The tile of a map at a zoom; `row` and `column` count tiles of 256 x 256 cells from 0.

    >>> whole = quantised(np.array([[0.5, 0.1], [0.2, 0.8]]))
    >>> cut(whole, zoom=1, row=0, column=0).attention
    array([[0.8]], dtype=float32)
    """
    reach = TILE << zoom
    rows, columns = slice(row * reach, (row + 1) * reach), slice(column * reach, (column + 1) * reach)
    return pooled(Tile(tile.maximum[rows], tile.levels[rows, columns]), zoom)


def pooled(tile: Tile, zoom: int) -> Tile:
    """A tile whose cells are the maximum of 2^zoom x 2^zoom cells, and its rows relative to their new maximum."""
    if not zoom:
        return tile
    rows, columns = (np.arange(0, size, 1 << zoom) for size in tile.levels.shape)
    maximum = np.maximum.reduceat(tile.maximum, rows)
    levels = np.maximum.reduceat(tile.levels, columns, axis=1)
    scaled = _rescaled(levels, tile.maximum, maximum.repeat(1 << zoom)[: len(levels)])
    return Tile(maximum, np.maximum.reduceat(scaled, rows, axis=0))


def overviews(heads: tuple[int, ...], length: int, head_map: Callable[[int, int], Tile]) -> Overview:
    """The maps of all heads with at most 64 cells on a side; `head_map` gives that of a layer and head."""
    side = -(-length // (1 << zoom_of(length, OVERVIEW)))
    maximum = np.zeros((len(heads), max(heads)), np.float32)
    levels = np.zeros((*maximum.shape, side, side), np.uint8)
    for layer, head in places(heads):
        maximum[layer - 1, head - 1], levels[layer - 1, head - 1] = overview(head_map(layer, head), OVERVIEW)
    return maximum, levels


def overview(tile: Tile, side: int) -> tuple[float, UInt8[np.ndarray, "row column"]]:
    """A map of at most `side` cells on a side, relative to its largest attention. Returns: that, and the levels."""
    small = pooled(tile, zoom_of(len(tile.maximum), side))
    largest = float(small.maximum.max())
    return largest, _rescaled(small.levels, small.maximum, np.full_like(small.maximum, largest))


def zoom_of(length: int, side: int) -> int:
    """The smallest zoom at which a map has at most `side` cells on a side.

    >>> [zoom_of(length, TILE) for length in (1, 256, 257, 4096)]
    [0, 0, 1, 4]
    """
    return max(0, -(-length // side) - 1).bit_length()


def pack(tile: Tile) -> bytes:
    """A tile as it is sent: uint16 height and width, float32 row maxima, uint8 levels; little-endian.

    >>> pack(quantised(np.array([[1.0]]))).hex()
    '010001000000803fff'
    """
    height, width = tile.levels.shape
    return struct.pack("<HH", height, width) + tile.maximum.astype("<f4").tobytes() + tile.levels.tobytes()


def unpack(content: bytes) -> Tile:
    """A tile from the bytes of `pack`."""
    height, width = struct.unpack_from("<HH", content)
    maximum = np.frombuffer(content, "<f4", height, 4)
    # [row, column]
    return Tile(maximum, np.frombuffer(content, np.uint8, height * width, 4 + 4 * height).reshape(height, width))


def _rescaled(
    levels: UInt8[np.ndarray, "row column"], maximum: Float[np.ndarray, " row"], new: Float[np.ndarray, " row"]
) -> UInt8[np.ndarray, "row column"]:
    """The levels of rows relative to a new maximum of each."""
    share = maximum / np.where(new > 0, new, 1)
    return np.rint(levels * share[:, None]).astype(np.uint8)
