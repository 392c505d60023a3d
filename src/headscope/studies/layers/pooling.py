"""One vector for a span of words, or for a whole text, from the vectors of its tokens."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.layers.groups import WHOLE_TEXT
from headscope.studies.layers.tasks.task import Span

Pooling = Literal["mean", "max", "first", "last", "cls"]
CLS, SEP = TOKEN_CLASSES.index("cls"), TOKEN_CLASSES.index("sep")


def tokens_of(batch: Batch, row: int, pooling: Pooling) -> "TextTokensOf":
    """The tokens of an example of a batch, to be chosen from."""
    pieces = batch.pieces[batch.pieces[:, 0] == row, 1:].cpu().numpy() if batch.pieces is not None else np.empty((0, 2))
    classes = batch.token_class[row].cpu().numpy()
    cls = np.flatnonzero(classes == CLS)[:1]
    inside = np.flatnonzero((classes >= 0) & (classes != CLS) & (classes != SEP))
    return TextTokensOf(pieces, cls if pooling == "cls" else inside)


class TextTokensOf:
    """The tokens of a text: rows (word, token), and the tokens that stand for the whole."""

    def __init__(self, pieces: Int[np.ndarray, "piece 2"], whole: Int[np.ndarray, " token"]):
        self.pieces, self.whole = pieces, whole

    def __getitem__(self, span: Span) -> Int[np.ndarray, " token"]:
        """The tokens of the words [start, end), or of the whole; none where they have none."""
        if span == WHOLE_TEXT:
            return self.whole
        words = self.pieces[:, 0]
        return np.unique(self.pieces[(words >= span[0]) & (words < span[1]), 1])


def pooled(
    states: Float[Tensor, "space example token width"],
    rows: Sequence[int],
    tokens: Sequence[Int[np.ndarray, " token"]],
    pooling: Pooling,
) -> Float[Tensor, "space span width"]:
    """The vector of each span: the mean, the largest value, the first or the last of its tokens.

    * `rows`, `tokens`: the example and the tokens of each span, one or more.

    >>> states = torch.tensor([[[[1.0], [3.0], [8.0]]]])
    >>> [pooled(states, [0], [np.array([0, 1])], how).item() for how in ("mean", "max", "first", "last")]
    [2.0, 3.0, 1.0, 3.0]
    """
    if pooling in ("first", "last"):
        tokens = [each[:1] if pooling == "first" else each[-1:] for each in tokens]
    lengths = [len(each) for each in tokens]
    example = torch.from_numpy(np.repeat(rows, lengths)).to(states.device)
    token = torch.from_numpy(np.concatenate(tokens)).to(states.device)
    chosen = states[:, example, token].float().transpose(0, 1).contiguous()  # [piece, space, width]
    reduce = "max" if pooling == "max" else "mean"
    return torch.segment_reduce(chosen, reduce, lengths=torch.tensor(lengths, device=states.device)).transpose(0, 1)
