"""Attention and inputs made by hand, and what a measure makes of them: the engine's part without a model.

>>> from headscope.measures import attention_offset
>>> measured(attention_offset, [torch.eye(4)[None]], [tokens("coos")]).values.tolist()
[[[0.0, 1.0, 0.0]]]
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.encoded import UPOS_NUMBER, Encoded
from headscope.linguistics.features import LINK, NUMBER
from headscope.passes.batches import collate
from headscope.passes.observing import MeasureObserver
from headscope.results.vocabulary import FEATURES, FREQUENCIES, RELATIONS, TOKEN_CLASSES

Map = Float[Tensor, "head token token"]
CLASSES = "".join(name[0] for name in TOKEN_CLASSES)


class BlockSize(NamedTuple):
    """Most examples and queries that an observer is shown together."""

    examples: int
    queries: int


WHOLE = BlockSize(10**6, 10**6)


def tokens(
    classes: str,
    features: Sequence[tuple[str, int]] = (),
    links: Sequence[tuple[str, int, int]] = (),
    index: int = 0,
    pair: str = "",
    upos: Sequence[str] = (),
    counts: Sequence[int] = (),
    causal: bool = False,
) -> Encoded:
    """An input from the class of each token (c: cls, s: sep, p: punct, o: other), its features and its links.

    * `pair`: for a pair of segments, whose second one begins after the first separator, a letter for each token: the
      form of a word of one token, or "." for a token of no word; `upos`: for each token the parts of speech of its
      words, with blanks between them.
    * `counts`: how often the piece of each token stands in a corpus, or -1; its class is this, at most 4.
    * `causal`: whether a token sees only those up to itself.
    """
    second = classes.find("s")
    words = [(letter, int(token > second), token) for token, letter in enumerate(pair) if letter != "."]
    return Encoded(
        index,
        {"input_ids": np.zeros(len(classes), dtype=np.int64)},
        np.array([CLASSES.index(letter) for letter in classes]),
        np.array([(NUMBER[name], token) for name, token in features], dtype=np.int64).reshape(-1, 2),
        np.array([(LINK[name], *ends) for name, *ends in links], dtype=np.int64).reshape(-1, 3),
        pair_words=np.array([(word, ord(form), *at) for word, (form, *at) in enumerate(words)], dtype=np.int64).reshape(
            -1, 4
        ),
        upos=np.array([sum(1 << UPOS_NUMBER[name] for name in {*names.split()}) for names in upos], dtype=np.int64),
        count=np.array(counts, dtype=np.int64),
        seen=np.arange(1, len(classes) + 1) if causal else np.full(len(classes), len(classes)),
        frequency=np.minimum(np.array(counts, dtype=np.int64), len(FREQUENCIES) - 1),
    )


def random_input(random: np.random.Generator) -> Encoded:
    """An input with [CLS] perhaps, a few separators, any features and links, and perhaps words of a pair."""
    classes = "c"[: random.integers(2)] + "".join(random.choice([*"spo"], random.integers(1, 9)))

    def token() -> int:
        return int(random.integers(len(classes)))

    features = {(str(random.choice(FEATURES)), token()) for _ in range(random.integers(7))}
    links = {(str(random.choice(RELATIONS)), token(), token()) for _ in range(random.integers(6))}
    pair = "".join(random.choice([*"aab."], len(classes))) if random.random() < 0.5 else ""
    upos = [str(random.choice(["NOUN", "VERB", ""])) for _ in classes]
    counts = [int(random.integers(-1, 9)) for _ in classes]
    return tokens(classes, sorted(features), sorted(links), pair=pair, upos=upos, counts=counts)


def maps_of(inputs: Sequence[Encoded], heads: int, seed: int = 0) -> list[Map]:
    """Sharp random attention, with some exact zeros in it."""
    random = torch.Generator().manual_seed(seed)
    scores = [4 * torch.randn(heads, len(example), len(example), generator=random) for example in inputs]
    return [score.softmax(-1).where(score > score.amax(-1, keepdim=True) - 8, 0) for score in scores]


def shown(values: Values) -> np.ndarray:
    """Values with NaN where they are not valid."""
    return torch.where(values.valid[:, None], values.values, torch.nan).numpy()


def uniform(length: int) -> Map:
    """One head that looks at all tokens equally."""
    return torch.full((1, length, length), 1 / length)


def looks_at(keys: Sequence[int]) -> Map:
    """One head whose token i looks at the token `keys[i]` alone."""
    return torch.eye(len(keys))[list(keys)][None]


def batch_of(inputs: Sequence[Encoded], exist: str = CLASSES) -> Batch:
    """The batch of some inputs; `exist` are the classes that the tokenizer has."""
    return collate(list(inputs), pad=0, class_exists=[c in exist for c in CLASSES], device=torch.device("cpu"))


def measured(
    measure: Any, maps: Sequence[Map], inputs: Sequence[Encoded], block: BlockSize = WHOLE, exist: str = CLASSES
) -> Values:
    """The measure's values for a batch of inputs with these maps, shown block by block as the engine does."""
    return _collected(measure, [maps], batch_of(inputs, exist), block)


def compared(
    comparison: Any, ones: Sequence[Map], others: Sequence[Map], inputs: Sequence[Encoded], block: BlockSize = WHOLE
) -> Values:
    """The comparison's values for a batch of inputs with these maps in one model and those in the other."""
    return _collected(comparison, [ones, others], batch_of(inputs), block)


def _collected(measure: Any, models: Sequence[Sequence[Map]], batch: Batch, block: BlockSize) -> Values:
    observer = MeasureObserver({"measure": measure})
    observer.start(batch)
    by_model = [padded(maps) for maps in models]
    for examples, queries in _blocks(len(batch.real), batch.real.shape[1], block):
        parts = [Rows(attention[examples, :, queries], batch, examples, queries) for attention in by_model]
        observer.add(0, *parts)
    return observer.finish()["measure"]


def padded(maps: Sequence[Map]) -> Float[Tensor, "example head token token"]:
    """The maps as a model computes them in one batch: nothing looks at padding, which looks at all real tokens."""
    longest = max(attention.shape[-1] for attention in maps)
    batch = torch.zeros(len(maps), maps[0].shape[0], longest, longest)
    for row, attention in zip(batch, maps, strict=True):
        length = attention.shape[-1]
        row[:, :length, :length] = attention
        row[:, length:, :length] = 1 / length
    return batch


def _blocks(examples: int, length: int, block: BlockSize) -> Iterator[tuple[slice, slice]]:
    for first in range(0, examples, block.examples):
        for row in range(0, length, block.queries):
            yield (slice(first, min(first + block.examples, examples)), slice(row, min(row + block.queries, length)))
