"""The attention maps of a text for all heads of a model, kept as bytes."""

import os
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8

from headscope.encoding.batch import Batch, Rows
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes.forward import observing
from headscope.passes.observing import RowsObserver
from headscope.storage.limits import MAPS_IN_FILE, MAPS_IN_MEMORY
from headscope.viewer import tiles
from headscope.viewer.text_tokens import TextTokens
from headscope.viewer.tiles import LEVELS, Tile

MOST_TOKENS, MOST_WORDS = 4096, 512


@dataclass(frozen=True, eq=False)
class TextMaps:
    """The maps of all heads of each layer on a text; layers and heads count from 1.

    * `maximum`: the largest attention of each row; `levels`: attention in 255ths of it.
    """

    text: TextTokens
    heads: tuple[int, ...]
    maximum: Float[np.ndarray, "layer head query"]
    levels: UInt8[np.ndarray, "layer head query key"]

    @property
    def description(self) -> dict[str, Any]:
        """The text, and the sizes of its maps, as the page reads them."""
        text = self.text
        return {
            "tokens": list(text.tokens),
            "raw": list(text.raw),
            "segment": list(text.segment),
            "special": list(text.special),
            "words": [{"text": word.text, "tokens": list(word.tokens)} for word in text.words],
            "side": len(text),
            "zooms": self.zooms,
            "cut": text.cut,
        }

    def head_map(self, layer: int, head: int) -> Tile:
        """The map of a head."""
        return Tile(self.maximum[layer - 1, head - 1], self.levels[layer - 1, head - 1])

    def tile(self, layer: int, head: int, zoom: int, row: int, column: int) -> Tile:
        """A tile of the map of a head; see `tiles.cut`."""
        return tiles.cut(self.head_map(layer, head), zoom, row, column)

    @property
    def zooms(self) -> int:
        """The number of zooms; at the last one the whole map is one tile."""
        return tiles.zoom_of(len(self.text), tiles.TILE) + 1

    @property
    def in_file(self) -> bool:
        """True if the maps are in a temporary file."""
        return isinstance(self.levels, np.memmap)

    @cached_property
    def overview(self) -> tiles.Overview:
        """All maps with at most 64 cells on a side."""
        return tiles.overviews(self.heads, len(self.text), self.head_map)

    def between_words(self, layer: int, head: int) -> Tile:
        """The map between words; see `Rows.between_words` (Clark et al. 2019, section 4.1)."""
        words = self.text.words
        members = np.zeros((len(self.text), len(words)), np.float32)
        for index, word in enumerate(words):
            members[list(word.tokens), index] = 1
        # [query, key] @ [key, word] -> [query, word]
        to_words = self.head_map(layer, head).attention.astype(np.float32) @ members
        return tiles.quantised(members.T @ to_words / members.sum(0)[:, None])


def most_tokens(model: Model) -> int:
    """The longest text whose maps are kept, in tokens."""
    heads = model.capture.heads
    return min(model.max_tokens, MOST_TOKENS, isqrt(MAPS_IN_FILE // (len(heads) * max(heads))))


def text_maps(model: Model, text: TextTokens) -> TextMaps:
    """The maps of a text by one forward pass; no map is kept as floats.

    Raises `HeadscopeError` if the attention is not finite, or there is no room for the file of a long text.
    """
    heads, length = model.capture.heads, len(text)
    observer = _MapWriter(
        np.zeros((len(heads), max(heads), length), np.float32), _bytes((len(heads), max(heads), length, length))
    )
    with observing(model, observer) as observe:
        observe([text.encoded])
    if not np.isfinite(observer.maximum).all():
        raise HeadscopeError(f"model '{model.name}' gives attention that is not finite; use --dtype float32")
    return TextMaps(text, heads, observer.maximum, observer.levels)


class _MapWriter(RowsObserver):
    """An observer that writes the maps of one input as bytes, block by block."""

    def __init__(
        self, maximum: Float[np.ndarray, "layer head query"], levels: UInt8[np.ndarray, "layer head query key"]
    ):
        self.maximum, self.levels = maximum, levels

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def add(self, layer: int, rows: Rows) -> None:
        attention, (_, heads, queries, keys) = rows.attention[0], rows.slices
        maximum = attention.amax(-1)  # [head, query]
        share = LEVELS / torch.where(maximum > 0, maximum, 1)
        self.maximum[layer, heads, queries] = maximum.cpu().numpy()
        levels = torch.from_numpy(self.levels[layer, heads, queries, keys])
        levels.copy_((attention * share[..., None]).round_())

    def finish(self) -> None:
        """See `BatchObserver`; `maximum` and `levels` are complete."""


def _bytes(shape: tuple[int, ...]) -> UInt8[np.ndarray, "layer head query key"]:
    """Room for maps: in memory, or in a temporary file that is deleted with the array."""
    size = int(np.prod(shape))
    if size <= MAPS_IN_MEMORY:
        return np.zeros(shape, np.uint8)
    try:
        with TemporaryFile(prefix="headscope-") as file:
            if hasattr(os, "posix_fallocate"):  # else a disk that fills up later would end the process
                os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, np.uint8, "w+", shape=shape)  # type: ignore[return-value]
    except OSError as error:
        raise HeadscopeError(
            f"the maps of a text of {shape[-1]:,} tokens need a temporary file of {size >> 20:,} MiB: "
            f"{error.strerror or error}; write a shorter text, or set TMPDIR to a folder with room"
        ) from error
