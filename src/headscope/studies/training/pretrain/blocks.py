"""The text of a pre-training in blocks: pieces that follow each other in a document, in two parts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.encoding.encoded import CLASS, NO_PIECES, Encoded
from headscope.linguistics.sentence import Sentence, number_of
from headscope.models.segment_ids import NAME
from headscope.studies.training.pretrain.units import UNITS, joined_words

# [CLS] before the first part, and [SEP] after each; and the fewest pieces of a block.
SPECIAL, LEAST = 3, 8
TOGETHER = 1000

# What a piece belongs to: its word, and the noun phrase or entity, which is else its word.
COLUMNS = ("piece", "word", *UNITS)
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
        self, index: int, tokenizer: PreTrainedTokenizerBase, document: int | None = None, unit: str = "word"
    ) -> Encoded:
        """The block as an input: [CLS] first [SEP] second [SEP].

        * `document`: with which it is resampled; `unit`: what `pieces` has in the place of words, one of `COLUMNS`.
        """
        first, second = (part[:, [0, COLUMNS.index(unit)]] for part in (self.first, self.second))
        cls, sep = (np.array([[number, -1]]) for number in (tokenizer.cls_token_id, tokenizer.sep_token_id))
        rows = np.concatenate([cls, first, sep, second, sep])
        pieces, words = rows.T
        segments = np.repeat([0, 1], [len(self.first) + 2, len(self.second) + 1])
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


def streams(tokenizer: PreTrainedTokenizerBase, corpus: Corpus) -> list[DocumentPieces]:
    """The pieces of each document of a corpus, all sentences in their order; without documents it is one."""
    rows: dict[str, list[Part]] = {}
    ends: dict[str, list[np.ndarray]] = {}
    sentences = _sentences(corpus)
    while group := list(islice(sentences, TOGETHER)):
        texts = [sentence.text for _, sentence in group]
        encodings = tokenizer(texts, add_special_tokens=False, verbose=False).encodings
        for (document, sentence), encoding in zip(group, encodings or [], strict=True):
            pieces = np.array(encoding.ids, dtype=np.int64)
            if not len(pieces):
                continue
            words = np.array([-1 if word is None else word for word in encoding.word_ids])
            before = rows.setdefault(document, [])
            words = words - words[0] + (before[-1][-1, 1] + 1 if before else 0)
            starts = np.array(encoding.offsets)[:, 0]
            units = [joined_words(words, starts, sentence, spans) for spans in UNITS.values()]
            before.append(np.column_stack([pieces, words, *units]))
            ends.setdefault(document, []).append(np.arange(len(pieces)) == len(pieces) - 1)
    return [
        DocumentPieces(np.concatenate(parts), np.concatenate(ends[name]), number_of(name) if name else 0)
        for name, parts in rows.items()
    ]


def _sentences(corpus: Corpus) -> Iterator[tuple[str, Sentence]]:
    return ((sentence.document or example.document, sentence) for example in corpus for sentence in example.sentences)


def shuffled(documents: list[DocumentPieces], seed: int) -> list[DocumentPieces]:
    """The same documents with their pieces in random order over all of them: nothing but frequencies can be learned."""
    pieces = np.random.default_rng(seed).permutation(np.concatenate([stream.rows[:, 0] for stream in documents]))
    stops = np.cumsum([len(stream.rows) for stream in documents])[:-1]
    return [
        replace(stream, rows=np.column_stack([part, stream.rows[:, 1:]]))
        for stream, part in zip(documents, np.split(pieces, stops), strict=True)
    ]
