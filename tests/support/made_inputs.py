"""Sentences and corpora that a test writes, as inputs of the tiny tokenizer, and attention made by hand."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Link, Sentence
from headscope.passes.batches import collate
from headscope.testing.hand_made import padded
from support.tiny import tiny_tokenizer


def spaced(text: str, *links: Link, **annotation: Any) -> Sentence:
    """A sentence whose words stand between blanks.

    >>> spaced("the cat").words
    ((0, 3), (4, 7))
    """
    ends = np.cumsum([len(word) + 1 for word in text.split()]).tolist()
    words = tuple((end - len(word) - 1, end - 1) for end, word in zip(ends, text.split(), strict=True))
    return Sentence(text, words, links=links, **annotation)


def corpus_of(examples: Sequence[Example]) -> Corpus:
    return Corpus("made", "0" * 64, len(examples), {}, partial(iter, examples))


def inputs_of(*made: Example) -> list[Encoded]:
    return list(Words(tiny_tokenizer(), 64, aligned=True).encode(made))


def batch_of(inputs: list[Encoded]) -> Batch:
    return collate(inputs, pad=0, class_exists=[True] * 4, device=torch.device("cpu"))


def maps_of(inputs: list[Encoded], heads: int = 2, seed: int = 0) -> list[Tensor]:
    """Random attention of each input."""
    random = torch.Generator().manual_seed(seed)
    return [torch.randn(heads, len(encoded), len(encoded), generator=random).mul(2).softmax(-1) for encoded in inputs]


def shown_maps(reader: Any, layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int) -> Any:
    """What an observer finds when it is shown the maps of each layer, so many queries at a time."""
    reader.start(batch_of(inputs))
    for layer, maps in enumerate(layers):
        attention = padded(maps)
        for first in range(0, attention.shape[2], block):
            queries = slice(first, min(first + block, attention.shape[2]))
            reader(layer, attention[:, :, queries], slice(0, len(inputs)), queries)
    return reader.finish()
