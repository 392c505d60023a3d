"""The texts by their use: those that the search and the training read, and those that only score."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model

# Shares of the texts that score, and of the others that say when to end the training.
HELD_OUT, STOPPING = 0.2, 0.1


@dataclass(frozen=True)
class Splits:
    """Examples by their use.

    * `training`: the search measures parts on them, and the smaller model is trained on them.
    * `stopping`: choose the epoch of the training.
    * `held_out`: score; nothing is chosen on them. `units`: the number of what is resampled as a whole, for each.
    * `left_out`: how many texts of the corpus were left out or cut, by reason.
    """

    training: tuple[Example, ...]
    stopping: tuple[Example, ...]
    held_out: tuple[Example, ...]
    units: tuple[int, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def split(model: Model, corpus: Corpus, task: Task | None, seed: int) -> Splits:
    """Split texts by the seed; with a task its train split is searched on, or other texts, and its dev split scores.

    * `corpus`: the texts; beside a task its dev split for none of one's own.

    Raises `HeadscopeError` for a task without a train split, fewer than two texts, and texts beside a task of pairs.
    """
    if task is not None and corpus is task.dev:
        if task.train is None:
            raise HeadscopeError(
                f"task '{task.name}' has no held-out data: its one split cannot both choose and score; "
                "add a train split to its folder (train.tsv), or name texts of your own to search on"
            )
        training, stopping = _parted(tuple(task.train), STOPPING, seed)
        return replace(of_dev(task), training=training, stopping=stopping or training)
    texts, left_out = readable(model, corpus)
    if task is not None:
        texts, left_out = _beside(task, texts, left_out)
    if len(texts) < 2:
        reasons = "".join(f", {number} {reason}" for reason, number in left_out.items() if reason != "truncated")
        others = "score" if task is None else "choose the epoch"
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {len(texts)} texts that the model can read{reasons}; at least 2 are needed: "
            f"some are searched on, and others {others}"
        )
    if task is not None:
        training, stopping = _parted(texts, STOPPING, seed)
        return replace(of_dev(task), training=training, stopping=stopping or training, left_out=left_out)
    rest, held_out = _parted(texts, HELD_OUT, seed)
    training, stopping = _parted(rest, STOPPING, seed + 1)
    return Splits(training, stopping or training, held_out, tuple(range(len(held_out))), left_out)


def of_dev(task: Task) -> Splits:
    """The dev split of a task alone, which scores."""
    return Splits((), (), tuple(task.dev), tuple(task.dev.units))


def readable(model: Model, corpus: Corpus) -> tuple[tuple[Example, ...], Counter[str]]:
    """The texts of a corpus that have tokens, and can be cut to its length; and how many are left out or cut."""
    words = Words(model.tokenizer, model.max_tokens, "truncate")
    texts = tuple(example for example, parts in words.tokenized(corpus) if parts)
    return texts, Counter(corpus.skipped) + words.counts


def _beside(task: Task, texts: tuple[Example, ...], left_out: Counter[str]) -> tuple[tuple[Example, ...], Counter[str]]:
    """The texts that are not of the dev split of a task, and how many are left out.

    Raises `HeadscopeError` for single texts beside a task of pairs, and for pairs beside one of single texts.
    """
    scored = set(map(_segment_texts, task.dev))
    paired = len(next(iter(scored))) == 2
    refuse_other_segments(f"task '{task.name}'", texts, paired=paired)
    others = tuple(example for example in texts if _segment_texts(example) not in scored)
    return others, left_out + Counter({"in the dev split": len(texts) - len(others)})


def refuse_other_segments(reader: str, texts: Iterable[Example], *, paired: bool) -> None:
    """Raise `HeadscopeError` for single texts where pairs are read, and for pairs where single texts are."""
    odd = next((example for example in texts if bool(example.second) != paired), None)
    if odd is not None:
        read, expected = ("pairs of texts", "a single text") if paired else ("single texts", "a pair of texts")
        raise HeadscopeError(
            f"{reader} reads {read}, example '{odd.id}' is {expected}; name a table, such as own.tsv, and its columns, "
            f"with --columns {'FIRST,SECOND' if paired else 'TEXT'}"
        )


def _segment_texts(example: Example) -> tuple[str, ...]:
    return tuple(map(segment_text, example.segments))


def encode(model: Model, examples: Sequence[Example]) -> list[Encoded]:
    """Each example as one input, cut to the length of the model.

    Raises `HeadscopeError` if one has no token, or is a pair that cannot be cut to this length.
    """
    inputs = list(Words(model.tokenizer, model.max_tokens, "truncate").encode(examples))
    if len(inputs) < len(examples):
        raise HeadscopeError(
            f"{len(examples) - len(inputs)} of {len(examples)} texts cannot be cut to {model.max_tokens} tokens; "
            "leave pairs of long texts out"
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
