"""Treebanks with the attention of a model between the words of each sentence."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from headscope.corpora import Corpus
from headscope.corpora.trees import require_trees
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.parsed_sentences import Parsed, every_fifth
from headscope.models import Model
from headscope.passes.kept_arrays import ArrayStore
from headscope.passes.observing import observing
from headscope.passes.passes import Pass
from headscope.passes.settings import Settings
from headscope.studies.probe.batches import Treebank
from headscope.studies.probe.observer import TreebankObserver

Read = dict[str, str | int | float]
ReadSentences = tuple[list[Parsed], Read]


@dataclass(frozen=True)
class CapturedTreebanks:
    """The treebanks that parsers are trained and tested on.

    * `test_read`, `train_read`: counts of their corpora, read and left out, as attributes of a result.
    * `in_memory`, `on_disk`: bytes of attention.
    """

    train: Treebank
    test: Treebank
    train_read: Read
    test_read: Read
    in_memory: int
    on_disk: int


@contextmanager
def capture_treebank(
    model: Model, corpus: Corpus, training: Corpus | None, settings: Settings, budget: int
) -> Iterator[CapturedTreebanks]:
    """Capture the attention of a model to both treebanks while the context lasts: up to `budget` bytes of it in memory.

    Raises `HeadscopeError` if a corpus has no dependency trees or no example that fits into the model, or the disk is
    full.
    """
    with ArrayStore(budget) as store:
        (tested, read), (trained, train_read) = read_treebanks(model, corpus, training, settings, store)
        test = _ordered(tested, range(len(tested)))
        train = _ordered(trained, range(len(tested), len(store.arrays)))
        if training is None:
            kept, apart = every_fifth(len(test))
            train, test = [test[place] for place in kept], [test[place] for place in apart]
        if not (train and test):
            raise HeadscopeError(f"corpus '{corpus.name}': {len(tested)} sentences are too few; name a larger treebank")
        trained_on, tested_on = (_treebank(each, store) for each in (train, test))
        yield CapturedTreebanks(trained_on, tested_on, train_read, read, store.in_memory, store.on_disk)


def read_treebanks(
    model: Model, corpus: Corpus, training: Corpus | None, settings: Settings, store: ArrayStore
) -> tuple[ReadSentences, ReadSentences]:
    """Read `corpus`, then `training`, whose attention goes to the store."""
    tested = _sentences(model, corpus, settings, store)
    return tested, _sentences(model, training, settings, store) if training else ([], tested[1])


def _treebank(sentences: Sequence[tuple[Parsed, int]], store: ArrayStore) -> Treebank:
    return Treebank([sentence for sentence, _ in sentences], [store.arrays[place] for _, place in sentences])


def _ordered(sentences: Sequence[Parsed], places: range) -> list[tuple[Parsed, int]]:
    """The sentences in the order of their corpus, each with the place of its map."""
    return sorted(zip(sentences, places, strict=True), key=lambda each: each[0].order)


def _sentences(model: Model, corpus: Corpus, settings: Settings, store: ArrayStore) -> ReadSentences:
    """One pass of a model over a treebank, whose attention goes to the store."""
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    run = Pass(model, corpus, replace(settings, keep_interrupted=False), words)
    with observing(model, TreebankObserver(words.counts)) as observe:
        result = store.gather(run, observe, list[Parsed])
    return [sentence for sentences in result.value for sentence in sentences], result.attributes
