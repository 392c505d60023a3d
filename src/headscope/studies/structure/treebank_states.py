"""Treebanks with the hidden states of a model: one vector for each word, layer by layer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.trees import require_trees
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.treebank_batch import sentences_of
from headscope.errors import HeadscopeError
from headscope.linguistics.parsed_sentences import UNKNOWN, Parsed, every_fifth
from headscope.models import Model
from headscope.passes.kept_arrays import ArrayStore
from headscope.passes.passes import Attributes, Pass
from headscope.passes.settings import Settings
from headscope.passes.state_batches import state_batches
from headscope.studies.structure.gold_trees import GoldTrees

# Spaces beside those of the layers: without context (ELMo0 in the paper), and with the nearest words mixed in (Decay0).
UNCONTEXTUAL = ("embeddings", "decay")
States = Float[Tensor, "space word width"]
ReadSentences = tuple[list[Parsed], Attributes]


@dataclass(frozen=True)
class TreebankStates:
    """Sentences, and the vectors of their words in each space: the layers, then `UNCONTEXTUAL`."""

    sentences: Sequence[Parsed]
    states: Sequence[States]

    def __len__(self) -> int:
        return len(self.sentences)

    @cached_property
    def gold(self) -> GoldTrees:
        """Distances and depths of the words of all sentences."""
        return GoldTrees(self.sentences)

    def __getitem__(self, numbers: Sequence[int]) -> "TreebankStates":
        """Some of the sentences."""
        return TreebankStates([self.sentences[each] for each in numbers], [self.states[each] for each in numbers])


@dataclass(frozen=True)
class CapturedStates:
    """The treebanks that probes are trained and tested on.

    * `test_read`, `train_read`: counts of their corpora, read and left out, as attributes of a result.
    * `in_memory`, `on_disk`: bytes of hidden states.
    """

    train: TreebankStates
    test: TreebankStates
    train_read: Attributes
    test_read: Attributes
    in_memory: int
    on_disk: int


@contextmanager
def capture_states(
    model: Model, corpus: Corpus, training: Corpus | None, settings: Settings, budget: int
) -> Iterator[CapturedStates]:
    """Capture the hidden states of both treebanks while the context lasts: up to `budget` bytes of them in memory.

    Raises `HeadscopeError` if a corpus has no dependency trees, there are too few sentences, or the disk is full.
    """
    with ArrayStore(budget) as store:
        (tested, test_read), (trained, train_read) = read_treebanks(model, corpus, training, settings, store)
        test = _ordered(tested, store.arrays[: len(tested)])
        train = _ordered(trained, store.arrays[len(tested) :])
        if training is None:
            train, test = (test[numbers] for numbers in every_fifth(len(test)))
        if not (len(train) and len(test)):
            raise HeadscopeError(
                f"corpus '{corpus.name}': {len(tested)} sentences of two words or more are too few; "
                "name a larger treebank"
            )
        yield CapturedStates(train, test, train_read, test_read, store.in_memory, store.on_disk)


def read_treebanks(
    model: Model, corpus: Corpus, training: Corpus | None, settings: Settings, store: ArrayStore
) -> tuple[ReadSentences, ReadSentences]:
    """Read `corpus`, then `training`, whose states go to the store."""
    tested = _read(model, corpus, settings, store)
    return tested, _read(model, training, settings, store) if training else ([], tested[1])


def _ordered(sentences: Sequence[Parsed], states: Sequence[States]) -> TreebankStates:
    """The sentences in the order of their corpus."""
    order = sorted(range(len(sentences)), key=lambda place: sentences[place].order)
    return TreebankStates(sentences, states)[order]


def _read(model: Model, corpus: Corpus, settings: Settings, store: ArrayStore) -> ReadSentences:
    """One pass over a treebank, whose states go to the store; sentences that cannot be scored are counted."""
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    read = state_batches(model)

    def observe(group: list[Encoded]) -> tuple[list[Parsed], list[Float[np.ndarray, "space word width"]]]:
        (batch, states), lost = read(group), Counter[str]()
        sentences, spaces = [], []
        of_words = (batch.mean_of_pieces.to(states.dtype) @ states).float().cpu()  # [layer, example, word, width]
        for row, sentence in sentences_of(batch, lost):
            if len(sentence) < 2 or (sentence.heads == UNKNOWN).any():
                words.counts["sentences of one word, or with a head that has no token"] += 1
                continue
            spaces.append(_spaces(of_words[:, row, sentence.words].numpy()))
            sentences.append(sentence)
        if lost["sentences without a tree"]:
            words.counts["sentences without a tree"] += lost["sentences without a tree"]
        return sentences, spaces

    result = store.gather(Pass(model, corpus, settings, words), observe, list[Parsed])
    return [sentence for of_batch in result.value for sentence in of_batch], result.attributes


def _spaces(states: Float[np.ndarray, "layer word width"]) -> Float[np.ndarray, "space word width"]:
    """The layers, then the embeddings, then their mean over the sentence, weighted by 1/2 for each word of distance."""
    places = np.arange(states.shape[1])
    weights = 0.5 ** abs(places[:, None] - places)  # [word, word]
    decay = weights / weights.sum(1, keepdims=True) @ states[0]
    return np.concatenate([states[1:], states[:1], decay[None]])
