"""Treebanks with an array of each sentence (its attention, its hidden states), to train probes on and to test them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.corpus import sample
from headscope.encoding.parsed_sentences import FIFTH, Parsed, every_fifth
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.random_weights import untrained
from headscope.passes.kept_arrays import ArrayPass, ArrayStore
from headscope.passes.planned_pass import Attributes
from headscope.passes.settings import Settings
from headscope.storage.kept_inputs import free_models

# Sentences are sorted by length within this many batches.
WINDOW = 32
# Sentences to test on, and of one treebank that both trains and tests, unless all are asked for: a model and three of
# random weights read them, and probes learn from them, within two minutes.
TESTED, IN_ALL = 600, 1_600
TreebankPass = ArrayPass[list[Parsed]]
Plan = Callable[[Corpus], TreebankPass]


@dataclass(frozen=True)
class SentenceArrays:
    """Sentences, and an array of each.

    * `LIMIT`: most cells of the square arrays of a batch, which have `ADDED` rows beside the words.
    """

    LIMIT: ClassVar[float] = np.inf
    ADDED: ClassVar[int] = 0
    sentences: Sequence[Parsed]
    arrays: Sequence[Float[Tensor, "*dims"]]

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, numbers: Sequence[int]) -> Self:
        """Some of the sentences."""
        return type(self)([self.sentences[number] for number in numbers], [self.arrays[number] for number in numbers])

    def groups(self, most: int, order: Int[np.ndarray, " chosen"]) -> list[list[int]]:
        """The sentences of `order` in batches of similar lengths, each of at most `most`."""
        lengths = np.array([len(sentence) for sentence in self.sentences])
        batches: list[list[int]] = []
        for first in range(0, len(order), most * WINDOW):
            window = order[first : first + most * WINDOW]
            group: list[int] = []
            for number in window[np.argsort(lengths[window], kind="stable")].tolist():
                if group and (
                    len(group) == most or (len(group) + 1) * (lengths[number] + self.ADDED) ** 2 > self.LIMIT
                ):
                    batches.append(group)
                    group = []
                group.append(number)
            batches.append(group)
        return batches


Treebank = TypeVar("Treebank", bound=SentenceArrays)


@dataclass(frozen=True)
class CapturedTreebanks(Generic[Treebank]):
    """The treebanks that probes are trained and tested on.

    * `test_read`, `train_read`: counts of their corpora, read and left out, as attributes of a result.
    * `in_memory`, `on_disk`: bytes of arrays.
    """

    train: Treebank
    test: Treebank
    train_read: Attributes
    test_read: Attributes
    in_memory: int
    on_disk: int

    def attributes(self, training: Corpus, kept: str) -> Attributes:
        """What probes are trained and tested on, as attributes of a result; `kept`: what the arrays are."""
        words = sum(len(sentence) for sentence in self.train.sentences)
        read = {"sentences": len(self.train), "words": words} | json.loads(str(self.train_read["skipped"]))
        return self.test_read | {
            "training": json.dumps({"corpus": training.name, "sha256": training.sha256} | read),
            "test_sentences": len(self.test),
            f"{kept}_bytes": json.dumps({"in_memory": self.in_memory, "on_disk": self.on_disk}),
        }


@contextmanager
def capture_treebanks(
    kind: type[Treebank], plan: Plan, corpus: Corpus, training: Corpus | None, budget: int
) -> Iterator[CapturedTreebanks[Treebank]]:
    """Read both treebanks, whose arrays are there while the context lasts: up to `budget` bytes of them in memory.

    * `plan`: the pass over a treebank; its model is not kept.
    * `training`: None trains on four documents (or sentences) of five of the corpus, and tests on the fifth.

    Raises `HeadscopeError` if there are too few sentences, or the disk is full.
    """
    with ArrayStore(budget) as store:
        tested, test_read = _read(plan(corpus), store)
        trained, train_read = _read(plan(training), store) if training else ([], test_read)
        del plan
        free_models()
        test = _ordered(kind(tested, store.arrays[: len(tested)]))
        train = _ordered(kind(trained, store.arrays[len(tested) :]))
        if training is None:
            units = [sentence.unit for sentence in test.sentences]
            train, test = (test[numbers] for numbers in every_fifth(units, corpus.by_document))
        if not (len(train) and len(test)):
            raise HeadscopeError(f"corpus '{corpus.name}': {len(tested)} sentences are too few; name a larger treebank")
        yield CapturedTreebanks(train, test, train_read, test_read, store.in_memory, store.on_disk)


class Taken(NamedTuple):
    """The treebanks that are read; `training` as a study is given it.

    * `part`: how many sentences of how many, and what the others would cost; empty where all are read.
    """

    corpus: Corpus
    training: Corpus | None
    part: str = ""


def of_two_minutes(corpus: Corpus, training: Corpus | None, trained: int, settings: Settings, *, full: bool) -> Taken:
    """The treebanks with at most `trained` sentences to train on and `TESTED` to test on; all if `full`.

    They are drawn by the seed, and one line says so.

    * `training`: None trains on four documents (or sentences) of five of the corpus, of which `IN_ALL` are then read.
    """
    asked = [(corpus, IN_ALL)] if training is None else [(training, trained), (corpus, TESTED)]
    if full or all(treebank.n_examples <= most for treebank, most in asked):
        return Taken(corpus, training)
    drawn = [
        sample(treebank, most, settings.seed) if treebank.n_examples > most else treebank for treebank, most in asked
    ]
    parts = [
        f"{some.n_examples:,} of {treebank.n_examples:,} sentences of '{treebank.name}'"
        for some, (treebank, _) in zip(drawn, asked, strict=True)
        if some is not treebank
    ]
    times = sum(treebank.n_examples for treebank, _ in asked) / sum(some.n_examples for some in drawn)
    narrower = (corpus.n_examples / drawn[-1].n_examples) ** 0.5
    part = f"{' and '.join(parts)} are read, drawn by the seed; --full reads all, in some {times:.1f} times the time"
    part += f", for intervals {narrower:.1f} times as narrow" if narrower > 1 else ""
    settings.on_notice(part)
    return Taken(drawn[0], None, part) if training is None else Taken(drawn[1], drawn[0], part)


def trained_on(corpus: Corpus, training: Corpus | None) -> int:
    """The most sentences that can train, at least one: those of `training`, else four fifths of the corpus."""
    return max(1, training.n_examples if training else corpus.n_examples * (FIFTH - 1) // FIFTH)


def treebank_passes(
    plan: Callable[[Model, Settings, Corpus], TreebankPass],
    model: Model,
    taken: Taken,
    settings: Settings,
    seeds: Iterable[int],
) -> Iterator[TreebankPass]:
    """The passes of a model, then those of random weights of some seeds, in the order in which a study reads them."""
    for used in chain([model], (untrained(model, seed) for seed in seeds)):
        yield from (plan(used, settings, corpus) for corpus in (taken.corpus, taken.training) if corpus)


def _read(treebank: TreebankPass, store: ArrayStore) -> tuple[list[Parsed], Attributes]:
    """The sentences of a treebank, whose arrays go to the store, and the attributes of the pass."""
    result = store.gather(treebank)
    return [sentence for batch in result.value for sentence in batch], result.attributes


def _ordered(treebank: Treebank) -> Treebank:
    """The sentences in the order of their corpus."""
    return treebank[sorted(range(len(treebank)), key=lambda number: treebank.sentences[number].order)]
