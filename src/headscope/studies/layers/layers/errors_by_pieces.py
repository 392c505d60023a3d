"""Errors of the values of numbers by how many pieces the numbers are split into (after Wallace et al. 2019)."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from headscope.results.vocabulary import PIECES
from headscope.statistics.intervals import Score


class Scored(Protocol):
    """One less the share of a loss in that of a base, with its resamples; see `measure.score`."""

    def __call__(self, loss: np.ndarray, base: np.ndarray, texts: np.ndarray) -> Score: ...


def errors_by_pieces(
    loss: Float[np.ndarray, "case space"],
    base: Float[np.ndarray, " case"],
    pieces: Int[np.ndarray, " case"],
    texts: Int[np.ndarray, " case"],
    scored: Scored,
) -> list[Score]:
    """The root of the mean squared error, in the unit of the values, of the cases of each number of pieces.

    Spaces are those of the loss, and behind them the mean of the training values as the answer to all. No case has NaN.

    * `loss`, `base`: squared errors in each space, and of that mean; `pieces`: of all numbers of a case together.
    * `texts`: the number of the text of each case; `scored`: gives the share of a loss, with its resamples.
    """
    squares, spaces = np.column_stack([loss, base]), loss.shape[1] + 1
    groups, made = np.minimum(pieces, len(PIECES)), []
    for size in range(1, len(PIECES) + 1):
        some = groups == size
        if some.any():
            share = scored(squares[some], np.ones(int(some.sum())), texts[some])
            roots = {name: np.sqrt(np.maximum(1 - getattr(share, name), 0)) for name in ("mean", "resampled")}
            made.append(replace(share, **roots))
        else:
            made.append(Score(np.full(spaces, np.nan), np.full((1, spaces), np.nan), 0))
    return made
