"""Grids as pictures in closed form: stretched, scaled to their own maximum; lines through them, and numbers."""

import pytest
import torch

from headscope.studies.heads.patterns.classifier.grid import SIZE, pool
from headscope.studies.heads.patterns.classifier.line_features import N_NUMBERS, numbers
from headscope.studies.heads.patterns.classifier.picture import (
    N_CHANNELS,
    Pictures,
    along_diagonals,
    channels,
    offsets,
    pictures,
)


def picture(attention: torch.Tensor) -> Pictures:
    length = len(attention)
    classes = torch.tensor([[0, *[3] * (length - 2), 1]])
    return pictures(pool(attention.float()[None, None], classes)[:, 0])


def test_a_short_map_fills_the_picture() -> None:
    shown = picture(torch.eye(4) / 2 + 1 / 8)
    expected = torch.block_diag(*[torch.ones(8, 8)] * 4) * 0.8 + 0.2
    torch.testing.assert_close(shown.maximum[0], expected)
    torch.testing.assert_close(shown.mean[0], expected)
    assert shown.largest.item() == pytest.approx(0.625)
    assert shown.length.item() == pytest.approx(4)
    assert shown.cls[0].sum() == shown.sep[0].sum() == 8 * SIZE
    assert shown.distance[0, 0, 31].item() == pytest.approx(31 / 32 * 4)


@pytest.mark.parametrize(("length", "cells"), [(4, 4), (20, 20), (32, 32), (33, 17), (50, 25), (64, 32), (512, 32)])
def test_columns_that_stretching_repeats_are_known(length: int, cells: int) -> None:
    assert picture(torch.full((length, length), 1 / length)).first.sum() == cells


@pytest.mark.parametrize("length", [5, 20, 32, 50])
def test_one_column_is_counted_once(length: int) -> None:
    column = torch.eye(length)[torch.full((length,), length // 2)]
    strongest = numbers(picture(column))[0, :4]
    assert strongest[0] == pytest.approx(torch.log1p(torch.tensor(3.0)).item(), rel=1e-4)
    assert strongest[1:].abs().max() == 0


def test_parallels_are_means_over_their_cells() -> None:
    values = torch.zeros(1, SIZE, SIZE)
    values[0].diagonal(-3).fill_(1)
    along = along_diagonals(values, extra=2)[0]
    assert along[SIZE - 1 - 3].item() == pytest.approx((SIZE - 3) / (SIZE - 3 + 2))
    assert along.count_nonzero() == 1
    assert offsets(torch.device("cpu"))[5, 2] == SIZE - 1 - 3


def test_there_are_as_many_channels_and_numbers_as_said() -> None:
    one = picture(torch.rand(40, 40).softmax(-1))
    assert channels(one).shape == (1, N_CHANNELS, SIZE, SIZE)
    assert numbers(one).shape == (1, N_NUMBERS)
    assert channels(one).isfinite().all()
    assert numbers(one).isfinite().all()
