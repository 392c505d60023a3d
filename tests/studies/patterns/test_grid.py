"""Maps of any length as grids: what a cell holds, and that blocks, batches and padding do not matter."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headscope.studies.heads.patterns.grid import CHANNELS, SIZE, grids, merged, pool, pooled

CLS, SEP, OTHER, PADDING = 0, 1, 3, -1


def attention_of(length: int, seed: int = 0, examples: int = 1, heads: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(examples, heads, length, length, generator=generator)).softmax(-1)


def classes_of(length: int, padded: int = 0) -> Tensor:
    return torch.tensor([[CLS, *[OTHER] * (length - 2), SEP, *[PADDING] * padded]])


def naive(attention: np.ndarray) -> np.ndarray:
    """The maximum and the mean of each cell, in plain loops."""
    length = len(attention)
    side = -(-length // SIZE)
    cells = np.zeros((2, SIZE, SIZE))
    for row in range(-(-length // side)):
        for column in range(-(-length // side)):
            window = attention[row * side : (row + 1) * side, column * side : (column + 1) * side]
            cells[:, row, column] = window.max(), window.mean()
    return cells


@pytest.mark.parametrize("length", [4, 5, 31, 32, 33, 64, 65, 100, 255, 512])
def test_cells_are_those_of_plain_loops(length: int) -> None:
    attention = attention_of(length)
    found = pool(attention, classes_of(length))[0, 0]
    np.testing.assert_allclose(found[:2], naive(attention[0, 0].double().numpy()), atol=1e-5)
    assert found[CHANNELS.index("window")].max().item() == pytest.approx(1 / length)


@settings(max_examples=30, deadline=None)
@given(length=st.integers(4, 150), cut=st.lists(st.integers(1, 150), max_size=4), seed=st.integers(0, 99))
def test_blocks_of_rows_add_up_to_the_whole(length: int, cut: list[int], seed: int) -> None:
    attention, classes = attention_of(length, seed, heads=2), classes_of(length)
    bounds = sorted({0, *(row for row in cut if row < length), length})
    parts = [pooled(attention[:, :, start:stop], classes, start) for start, stop in pairwise(bounds)]
    joined = parts[0]
    for part in parts[1:]:
        joined = merged(joined, part)
    torch.testing.assert_close(grids(joined, classes), pool(attention, classes), atol=1e-6, rtol=0)


@settings(max_examples=30, deadline=None)
@given(lengths=st.lists(st.integers(4, 140), min_size=2, max_size=5), seed=st.integers(0, 99))
def test_neither_padding_nor_the_batch_matter(lengths: list[int], seed: int) -> None:
    longest = max(lengths) + 3
    attention, classes = torch.zeros(len(lengths), 2, longest, longest), torch.full((len(lengths), longest), PADDING)
    alone = []
    for number, length in enumerate(lengths):
        one = attention_of(length, seed + number, heads=2)
        attention[number, :, length:, :length] = 1 / length  # padded queries look at something, too
        attention[number, :, :length, :length] = one
        classes[number, :length] = classes_of(length)
        alone.append(pool(one, classes_of(length)))
    torch.testing.assert_close(pool(attention, classes), torch.cat(alone), atol=1e-6, rtol=0)
