"""The texts by their use: those that the search and the training read, and those that only score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model

# Shares of the texts that score, and of the others that say when to end the training.
HELD_OUT, STOPPING = 0.2, 0.1


@dataclass(frozen=True)
class Splits:
    """Examples by their use.

    * `training`: the search measures parts on them, and the smaller model is trained on them.
    * `stopping`: choose the epoch of the training.
    * `held_out`: score; nothing is chosen on them. `units`: the number of what is resampled as a whole, for each.
    """

    training: tuple[Example, ...]
    stopping: tuple[Example, ...]
    held_out: tuple[Example, ...]
    units: tuple[int, ...]


def split(model: Model, corpus: Corpus, task: Task | None, seed: int, max_tokens: int | None = None) -> Splits:
    """Split texts by the seed; with a task its train split is searched on, and its dev split scores.

    * `max_tokens`: the longest input of the smaller model; pairs that cannot be cut to it are left out.

    Raises `HeadscopeError` for a task without a train split, and for fewer than two texts.
    """
    if task is not None:
        if task.train is None:
            raise HeadscopeError(
                f"task '{task.name}' has no held-out data: its one split cannot both choose and score; "
                "add a train split to its folder (train.tsv)"
            )
        training, stopping = _parted(tuple(task.train), STOPPING, seed)
        return Splits(training, stopping or training, tuple(task.dev), tuple(task.dev.units))
    texts = readable(model, corpus, max_tokens)
    if len(texts) < 2:
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {len(texts)} texts that the model can read; at least 2 are needed: "
            "some are searched on, and others score"
        )
    rest, held_out = _parted(texts, HELD_OUT, seed)
    training, stopping = _parted(rest, STOPPING, seed + 1)
    return Splits(training, stopping or training, held_out, tuple(range(len(held_out))))


def readable(model: Model, corpus: Corpus, max_tokens: int | None = None) -> tuple[Example, ...]:
    """The texts of a corpus that have tokens, and can be cut to a length."""
    words = Words(model.tokenizer, min(max_tokens or model.max_tokens, model.max_tokens), "truncate")
    return tuple(example for example, parts in words.tokenized(corpus) if parts)


def encode(model: Model, examples: Sequence[Example]) -> list[Encoded]:
    """Each example as one input, cut to the length of the model.

    Raises `HeadscopeError` if one has no token, or is a pair that cannot be cut to this length.
    """
    inputs = list(Words(model.tokenizer, model.max_tokens, "truncate").encode(examples))
    if len(inputs) < len(examples):
        raise HeadscopeError(
            f"{len(examples) - len(inputs)} of {len(examples)} texts cannot be cut to {model.max_tokens} tokens; "
            "allow more with --max-tokens, or leave it out"
        )
    return inputs


def _parted(examples: tuple[Example, ...], share: float, seed: int) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """A seeded share of the examples, and before it the rest; at least one of several is in the share of held-out."""
    number = round(share * len(examples))
    if share == HELD_OUT:
        number = max(1, number)
    order = np.random.default_rng(seed).permutation(len(examples))
    chosen = set(order[:number].tolist())
    rest = tuple(example for index, example in enumerate(examples) if index not in chosen)
    return rest, tuple(example for index, example in enumerate(examples) if index in chosen)
