"""The text of a pre-training: blocks to train on, and held-out inputs that all ways are judged by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import masked, next_pieces
from headscope.errors import HeadscopeError
from headscope.models.smaller_vocabulary import kept_pieces, with_pieces
from headscope.storage.hashes import hash_of
from headscope.studies.training.pretrain.blocks import SPECIAL, DocumentPieces, TextBlock, held_out_blocks
from headscope.studies.training.pretrain.labels import label_numbers
from headscope.studies.training.pretrain.plan import PretrainingPlan
from headscope.studies.training.pretrain.stages import objectives_of
from headscope.studies.training.pretrain.streams import shuffled, streams
from headscope.studies.training.pretrain.units import require_units
from headscope.studies.training.pretrain.ways import PretrainingWay
from headscope.training.piece_frequencies import log_frequencies


@dataclass(frozen=True)
class LabText:
    """Blocks to train on, and held-out inputs, whose `documents` are resampled if they are known; the tokenizer.

    * `inputs`: number of blocks of an epoch; those of a part of the text are repeated. 0: all once.
    * `labels`: the number of each label, if a way reads them; `dev_by_label`: the held-out inputs with these.
    """

    train: list[TextBlock]
    dev: list[Encoded]
    tokenizer: PreTrainedTokenizerBase
    inputs: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    dev_by_label: list[Encoded] = field(default_factory=list)

    def part(self, share: float) -> "LabText":
        """A part of the text, spread over it, that is read as many times in an epoch as it takes to have its length."""
        number = max(2, round(share * len(self.train)))
        chosen = (np.arange(number) * len(self.train) // number).tolist()
        return replace(self, train=[self.train[block] for block in chosen], inputs=len(self.train))

    @property
    def epoch(self) -> list[TextBlock]:
        """The blocks of an epoch."""
        return [self.train[number % len(self.train)] for number in range(self.inputs or len(self.train))]

    @cached_property
    def digest(self) -> str:
        """The hash of the tokenizer."""
        backend: Any = self.tokenizer.backend_tokenizer
        return hash_of([backend.to_str().encode()])

    @cached_property
    def frequencies(self) -> Float[np.ndarray, " piece"]:
        """Log frequency of each piece by the text that is trained on."""
        rows = np.concatenate([part[:, 0] for block in self.train for part in (block.first, block.second)])
        counts = np.bincount(rows, minlength=len(self.tokenizer))
        counts[self.tokenizer.all_special_ids] = 0
        return log_frequencies(counts)

    def held_out(self, way: PretrainingWay) -> list[Encoded]:
        """The held-out inputs as a way reads them."""
        return self.dev_by_label if way.labels and self.labels else self.dev

    def judged(self, seed: int, way: PretrainingWay) -> tuple[list[Encoded], list[Int[np.ndarray, " token"]]]:
        """The held-out inputs with 15% of their tokens hidden, the same for all ways, and the hidden pieces.

        A way that predicts the next piece is judged by all inputs as they are.
        """
        if way.causal:
            return self.dev, [next_pieces(encoded, self.tokenizer) for encoded in self.dev]
        tokenizer = way.tokenizer(self.tokenizer)
        inputs, pieces = zip(*(masked(encoded, tokenizer, seed) for encoded in self.held_out(way)), strict=True)
        return list(inputs), list(pieces)


def lab_text(
    tokenizer: PreTrainedTokenizerBase, corpus: Corpus, plan: PretrainingPlan, max_tokens: int, seed: int
) -> LabText:
    """Read a corpus in blocks of at most `max_tokens` tokens, documents, or blocks, spread over it held out.

    Raises `HeadscopeError` if the tokenizer has no [MASK], [CLS] or [SEP], the text is too short, or lacks the
    annotation of a way.
    """
    ways = [way for name in plan.names for way in objectives_of(name)]
    for unit in {way.unit for way in ways}:
        require_units(corpus, unit)
    for name in dict.fromkeys(("mask", "cls", "sep", "pad", *(way.hidden_by for way in ways))):
        if getattr(tokenizer, f"{name}_token_id") is None:
            raise HeadscopeError(f"the tokenizer has no {name} token; name a BERT, such as --tokenizer minilm")
    labels = label_numbers(corpus) if any(way.labels for way in ways) else {}
    cut = _with_frequent_pieces(tokenizer, streams(tokenizer, corpus), plan.pieces, max_tokens)
    documents = streams(cut, corpus, labels)
    documents = shuffled(documents, seed) if plan.shuffle and documents else documents
    blocks = [block for stream in documents for block in stream.blocks(max_tokens - SPECIAL)]
    held_out = held_out_blocks(blocks, plan.held_out, by_document=corpus.by_document)
    dev = [block for number, block in enumerate(blocks) if number in held_out]
    train = [block for number, block in enumerate(blocks) if number not in held_out]
    if len(train) < 2 or not dev:
        raise HeadscopeError(
            f"corpus '{corpus.name}': {sum(len(stream.rows) for stream in documents):,} pieces give {len(train)} "
            f"inputs to train on and {len(dev)} held-out ones; use more text, a smaller --max-tokens or another "
            "--held-out"
        )

    def encoded(*, by_label: bool) -> list[Encoded]:
        return [
            block.encoded(number, cut, block.document if corpus.by_document else None, labels=by_label)
            for number, block in enumerate(dev)
        ]

    by_label = encoded(by_label=True) if labels else []
    return LabText(train, encoded(by_label=False), cut, labels=labels, dev_by_label=by_label)


def _with_frequent_pieces(
    tokenizer: PreTrainedTokenizerBase, documents: list[DocumentPieces], number: int, max_tokens: int
) -> PreTrainedTokenizerBase:
    """The tokenizer with the most frequent pieces of some documents, and single characters; as it is if no WordPiece.

    A WordPiece tokenizer takes the longest piece: without rare ones frequent pieces stay as they are.
    """
    backend: Any = tokenizer.backend_tokenizer
    if type(backend.model).__name__ != "WordPiece" or not documents:
        return tokenizer
    counts = np.bincount(np.concatenate([stream.rows[:, 0] for stream in documents]))
    frequent = np.argsort(-counts, kind="stable")[:number]
    used = frequent[counts[frequent] > 0].tolist()
    return with_pieces(tokenizer, kept_pieces(tokenizer, used), max_tokens)
