"""The text of a pre-training in blocks: pieces that follow each other in a document, in two parts."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import CLASS, NO_PIECES, Encoded
from headscope.models.segment_ids import NAME
from headscope.studies.training.pretrain.labels import by_label
from headscope.studies.training.pretrain.units import UNITS

# [CLS] before the first part, and [SEP] after each; and the fewest pieces of a block.
SPECIAL, LEAST = 3, 8

# What a piece belongs to: its word, and the noun phrase or entity, which is else its word; and the label of its text.
COLUMNS = ("piece", "word", *UNITS, "label")
Part = Int[np.ndarray, "piece column"]


@dataclass(frozen=True)
class TextBlock:
    """Two parts of a text that follow each other, in `COLUMNS`, and the number of their document."""

    first: Part
    second: Part
    document: int

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def followed_by(self, second: Part) -> "TextBlock":
        """The first part with another second one, cut where the block would become longer."""
        return replace(self, second=second[: len(self.second)])

    @property
    def turned_round(self) -> "TextBlock":
        """The second part first."""
        return replace(self, first=self.second, second=self.first)

    def encoded(
        self,
        index: int,
        tokenizer: PreTrainedTokenizerBase,
        document: int | None = None,
        unit: str = "word",
        *,
        labels: bool = False,
    ) -> Encoded:
        """The block as an input: [CLS] first [SEP] second [SEP].

        * `document`: with which it is resampled; `unit`: what `pieces` has in the place of words, one of `COLUMNS`;
          `labels`: those of the text stand in the place of segments.
        """
        first, second = (part[:, [0, COLUMNS.index(unit)]] for part in (self.first, self.second))
        cls, sep = (np.array([[number, -1]]) for number in (tokenizer.cls_token_id, tokenizer.sep_token_id))
        rows = np.concatenate([cls, first, sep, second, sep])
        pieces, words = rows.T
        segments = np.repeat([0, 1], [len(self.first) + 2, len(self.second) + 1])
        if labels:
            segments = by_label((self.first[:, COLUMNS.index("label")], self.second[:, COLUMNS.index("label")]))
        kind = np.full(len(rows), CLASS["other"])
        kind[np.isin(pieces, tokenizer.convert_tokens_to_ids([".", ","]))] = CLASS["punct"]
        kind[[0, len(self.first) + 1, -1]] = CLASS["cls"], CLASS["sep"], CLASS["sep"]
        token = np.flatnonzero(words >= 0)
        return Encoded(
            index, {"input_ids": pieces, NAME: segments}, kind, NO_PIECES, np.empty((0, 3), dtype=np.int64),
            pieces=np.column_stack([words[token], token]), document=document,
        )  # fmt: skip


@dataclass(frozen=True)
class DocumentPieces:
    """The pieces of a document in `COLUMNS`, and whether a sentence ends with each."""

    rows: Part
    ends: Bool[np.ndarray, " piece"]
    document: int

    def blocks(self, longest: int) -> Iterator[TextBlock]:
        """The document in blocks of at most so many pieces; words are not cut, and a short rest is left out."""
        start = 0
        while len(self.rows) - start >= LEAST:
            stop = self._word_start(start, min(start + longest, len(self.rows)))
            half = self._middle(start, stop)
            yield TextBlock(self.rows[start:half], self.rows[half:stop], self.document)
            start = stop

    @cached_property
    def _starts(self) -> Bool[np.ndarray, " border"]:
        """Whether a word starts at each piece; at the end one does."""
        return np.concatenate([[True], np.diff(self.rows[:, 1]) != 0, [True]])

    def _word_start(self, start: int, stop: int) -> int:
        """The last start of a word up to `stop`; `stop` itself within a word that is longer than a block."""
        places = np.flatnonzero(self._starts[start + 1 : stop + 1])
        return start + 1 + int(places[-1]) if len(places) else stop

    def _middle(self, start: int, stop: int) -> int:
        """Where the second part begins: after a sentence near the middle, else before a word, else in the middle."""
        middle, quarter = (start + stop) // 2, (stop - start) // 4
        for border in (np.concatenate([[False], self.ends]), self._starts):
            places = np.flatnonzero(border[start + quarter : stop - quarter + 1]) + start + quarter
            places = places[(places > start) & (places < stop)]
            if len(places):
                return int(places[abs(places - middle).argmin()])
        return middle


def held_out_blocks(blocks: list[TextBlock], share: float, *, by_document: bool) -> set[int]:
    """The numbers of the held-out blocks, spread evenly over the text: of whole documents where there are some.

    >>> numbers = np.zeros((0, 2), dtype=int)
    >>> blocks = [TextBlock(numbers, numbers, document) for document in range(10) for _ in range(2)]
    >>> sorted(held_out_blocks(blocks, 0.2, by_document=True)), sorted(held_out_blocks(blocks, 0.1, by_document=False))
    ([4, 5, 14, 15], [4, 14])
    """
    units = [block.document if by_document else number for number, block in enumerate(blocks)]
    owed, chosen = 0.0, set[int]()
    for unit, size in Counter(units).items():
        owed += share * size
        if owed >= size / 2:
            owed -= size
            chosen.add(unit)
    chosen = chosen or set(units[-1:])
    return {number for number, unit in enumerate(units) if unit in chosen}
