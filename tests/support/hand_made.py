"""Attention and inputs made by hand, and what a measure makes of them: the engine's part without a model.

>>> from headscope.measures import attention_offset
>>> measured(attention_offset, [torch.eye(4)[None]], [tokens("coos")]).values.tolist()
[[[0.0, 1.0, 0.0]]]
"""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.linguistics.features import LINK, NUMBER
from headscope.passes.batches import collate
from headscope.passes.observing import MeasureObserver
from headscope.results.vocabulary import TOKEN_CLASSES

Map = Float[Tensor, "head token token"]
CLASSES = "".join(name[0] for name in TOKEN_CLASSES)


class Block(NamedTuple):
    """Most examples and queries that an observer is shown together."""

    examples: int
    queries: int


WHOLE = Block(10**6, 10**6)


def tokens(
    classes: str,
    features: Sequence[tuple[str, int]] = (),
    links: Sequence[tuple[str, int, int]] = (),
    index: int = 0,
) -> Encoded:
    """An input from the class of each token (c: cls, s: sep, p: punct, o: other), its features and its links."""
    return Encoded(
        index,
        {"input_ids": np.zeros(len(classes), dtype=np.int64)},
        np.array([CLASSES.index(letter) for letter in classes]),
        np.array([(NUMBER[name], token) for name, token in features], dtype=np.int64).reshape(-1, 2),
        np.array([(LINK[name], *ends) for name, *ends in links], dtype=np.int64).reshape(-1, 3),
    )


def uniform(length: int) -> Map:
    """One head that looks at all tokens alike."""
    return torch.full((1, length, length), 1 / length)


def looks_at(keys: Sequence[int]) -> Map:
    """One head whose token i looks at the token `keys[i]` alone."""
    return torch.eye(len(keys))[list(keys)][None]


def batch_of(inputs: Sequence[Encoded], exist: str = CLASSES) -> Batch:
    """The batch of some inputs; `exist` are the classes that the tokenizer has."""
    return collate(list(inputs), pad=0, class_exists=[c in exist for c in CLASSES], device=torch.device("cpu"))


def measured(
    measure: ModuleType, maps: Sequence[Map], inputs: Sequence[Encoded], block: Block = WHOLE, exist: str = CLASSES
) -> Values:
    """The measure's values for a batch of inputs with these maps, shown block by block as the engine does."""
    return _collected(measure, [maps], batch_of(inputs, exist), block)


def compared(
    comparison: ModuleType,
    ones: Sequence[Map],
    others: Sequence[Map],
    inputs: Sequence[Encoded],
    block: Block = WHOLE,
) -> Values:
    """The comparison's values for a batch of inputs with these maps in one model and those in the other."""
    return _collected(comparison, [ones, others], batch_of(inputs), block)


def _collected(measure: ModuleType, models: Sequence[Sequence[Map]], batch: Batch, block: Block) -> Values:
    observer = MeasureObserver({"measure": measure})
    observer.start(batch)
    whole = [padded(maps) for maps in models]
    for examples, queries in _blocks(len(batch.real), batch.real.shape[1], block):
        parts = [Rows(attention[examples, :, queries], batch, examples, queries) for attention in whole]
        observer.add(0, *parts)
    return observer.finish()["measure"]


def padded(maps: Sequence[Map]) -> Float[Tensor, "example head token token"]:
    """The maps as a model computes them in one batch: nothing looks at padding, which looks at all real tokens."""
    longest = max(each.shape[-1] for each in maps)
    whole = torch.zeros(len(maps), maps[0].shape[0], longest, longest)
    for row, each in zip(whole, maps, strict=True):
        length = each.shape[-1]
        row[:, :length, :length] = each
        row[:, length:, :length] = 1 / length
    return whole


def _blocks(examples: int, length: int, block: Block) -> Iterator[tuple[slice, slice]]:
    for first in range(0, examples, block.examples):
        for row in range(0, length, block.queries):
            yield (
                slice(first, min(first + block.examples, examples)),
                slice(row, min(row + block.queries, length)),
            )
