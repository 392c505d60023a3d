"""Observer of attention between the words of a sequence: what each head says of each pair."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.passes.observing import RowsObserver
from headscope.statistics.columns import Columns
from headscope.studies.heads.contacts.pairs import Contacts


@dataclass(frozen=True)
class PairRows(Columns):
    """Pairs of words of sequences, a row each.

    * `input`, `unit`: the number of the sequence, and of what is resampled with it; `length`: its words.
    * `first`, `second`: the words, from 0; `contact`: whether the pair is one.
    * `scores`: of each head, of all layers in a row.
    """

    ORDER = ("input", "first", "second")
    input: Int[np.ndarray, " pair"]
    unit: Int[np.ndarray, " pair"]
    length: Int[np.ndarray, " pair"]
    first: Int[np.ndarray, " pair"]
    second: Int[np.ndarray, " pair"]
    contact: Bool[np.ndarray, " pair"]
    scores: Float[np.ndarray, "pair head"]


class PairObserver(RowsObserver):
    """Keep the scores of all pairs of words that are this many words apart; maps are read layer by layer."""

    def __init__(self, contacts: Contacts, apart: int):
        self.contacts, self.apart = contacts, apart

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and list the pairs of this one."""
        there = batch.has_token.cpu().numpy()
        pairs = np.argwhere(np.triu(there[:, :, None] & there[:, None], self.apart))  # [pair, 3]
        self.batch, self.ends = batch, np.searchsorted(pairs[:, 0], range(len(there) + 1))
        self.pairs = torch.from_numpy(pairs).to(batch.real.device)
        self.scores = BlockParts(batch.real.shape[1], self._scores)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`; a map becomes scores as soon as all queries of some examples are there."""
        self.scores.add(layer, rows, rows.between_words)

    def _scores(self, between: Float[Tensor, "example head word word"], rows: Rows) -> Float[Tensor, "pair head"]:
        first, last = self.ends[rows.examples.start], self.ends[rows.examples.stop]
        example, *words = self.pairs[first:last].unbind(-1)
        return corrected(between)[example - rows.examples.start, :, words[0], words[1]]

    def finish(self) -> PairRows:
        """The pairs of the batch."""
        example, first, second = self.pairs.cpu().numpy().T
        lengths = self.batch.has_token.sum(-1).cpu().numpy()
        return PairRows(
            input=self.batch.index.cpu().numpy()[example],
            unit=self.batch.unit.cpu().numpy()[example],
            length=lengths[example],
            first=first,
            second=second,
            contact=self._touch()[example, first, second],
            scores=self.scores.joined().float().cpu().numpy(),
        )

    def _touch(self) -> Bool[np.ndarray, "example word word"]:
        words = self.batch.has_token.shape[1]
        touch = np.zeros((len(self.batch.examples), words, words), bool)
        for matrix, example in zip(touch, self.batch.examples, strict=True):
            first, second = self.contacts.of(example).T
            matrix[first, second] = True
        return touch


def corrected(between: Float[Tensor, "*dims word word"]) -> Float[Tensor, "*dims word word"]:
    """Attention in both directions minus what both words' means predict: the average product correction (APC).

    Dunn et al. 2008. A map that is a product of a number of each word leaves nothing.

    >>> number = torch.tensor([0.5, 1.0, 2.0])
    >>> corrected(number[:, None] * number).abs().max().item() < 1e-6
    True
    """
    both = between + between.mT
    mean = both.sum(-1, keepdim=True)
    total = mean.sum(-2, keepdim=True)
    return both - mean * mean.mT / total.where(total > 0, 1)
