"""Shares of variance: those of plain loops, and none where attention is even; the shipped scores hold the others."""

import numpy as np
import pytest
import torch

from headscope.studies.heads.patterns.grid import pool
from headscope.studies.heads.patterns.line_features import POWERS, variance_shares
from headscope.studies.heads.patterns.picture import pictures

REST = 3  # what is left of rows, columns and parallels


def shares(attention: torch.Tensor) -> torch.Tensor:
    """The numbers of one map, by power."""
    length = len(attention)
    classes = torch.tensor([[0, *[3] * (length - 2), 1]])
    numbers = torch.stack(list(variance_shares(pictures(pool(attention.float()[None, None], classes)[:, 0]))), dim=1)
    return numbers.reshape(len(POWERS), -1)  # [power, number]


def test_even_attention_has_no_variance_to_share() -> None:
    for power in shares(torch.full((20, 20), 1 / 20)):
        assert power[:REST].abs().max() < 1e-4
        assert power[REST] == pytest.approx(1, abs=1e-4)


def test_shares_are_those_of_plain_loops() -> None:
    attention = np.random.default_rng(1).dirichlet(np.full(9, 0.3), 9)
    cells = attention / attention.max()
    centred = cells - cells.mean()
    row, column = centred.mean(1), centred.mean(0)
    left = centred - row[:, None] - column
    parallel = sum((10 - 1 - abs(offset)) * np.diagonal(left, offset).mean() ** 2 for offset in range(-8, 9))
    expected = np.array([9 * (row**2).sum(), 9 * (column**2).sum(), parallel]) / (centred**2).sum()
    np.testing.assert_allclose(shares(torch.from_numpy(attention))[0, :3], expected, atol=1e-5)
