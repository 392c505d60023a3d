"""Treebanks with the hidden states of a model: one vector for each word, layer by layer, and its place in the tree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from headscope.corpora import Corpus
from headscope.corpora.corpus import require_trees
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.parsed_sentences import ROOT, UNKNOWN, Parsed, sentences_of
from headscope.models import Model
from headscope.passes.captured_treebanks import SentenceArrays, TreebankPass
from headscope.passes.forward import Forward, half_scales
from headscope.passes.kept_arrays import ArrayPass
from headscope.passes.passes import Pass
from headscope.passes.settings import Settings

PUNCTUATION = "punct"


def distances(heads: Int[np.ndarray, " word"]) -> Int[np.ndarray, "word word"]:
    """The number of edges between two words.

    * `heads`: of each word, counted from 1; 0 for the root.

    >>> distances(np.array([2, 0, 2]))
    array([[0, 1, 2],
           [1, 0, 1],
           [2, 1, 0]])
    """
    dependents = np.flatnonzero(heads != ROOT)
    # scipy 1.14 takes indices of 32 bits alone.
    ends = (dependents.astype(np.int32), (heads[dependents] - 1).astype(np.int32))
    edges = csr_array((np.ones(len(dependents)), ends), shape=(len(heads), len(heads)))
    path_lengths = shortest_path(edges, method="D", directed=False, unweighted=True)
    # Two roots, which a broken tree may have, are as far apart as a sentence is long.
    return np.where(np.isfinite(path_lengths), path_lengths, len(heads)).astype(np.int64)


def depths(apart: Int[np.ndarray, "word other"], heads: Int[np.ndarray, " word"]) -> Int[np.ndarray, " word"]:
    """The number of edges between each word and its root, from those between words.

    >>> heads = np.array([2, 0, 2, 3])
    >>> depths(distances(heads), heads)
    array([1, 0, 1, 2])
    """
    return apart[:, heads == ROOT].min(1, initial=len(heads))


def scored(sentence: Parsed) -> Bool[np.ndarray, " word"]:
    """Mask of the words that are no punctuation."""
    return sentence.relations != PUNCTUATION


class GoldTrees:
    """Distances and depths of sentences, as small integers."""

    def __init__(self, sentences: Sequence[Parsed]):
        arrays = [distances(sentence.heads) for sentence in sentences]
        kind = np.int16 if any(len(sentence) > np.iinfo(np.uint8).max for sentence in sentences) else np.uint8
        self.distances = [torch.from_numpy(distances.astype(kind)) for distances in arrays]
        self.depths = [
            torch.from_numpy(depths(apart, sentence.heads).astype(kind))
            for apart, sentence in zip(arrays, sentences, strict=True)
        ]


# Spaces beside those of the layers: without context (ELMo0 in the paper), and with the nearest words mixed in (Decay0).
UNCONTEXTUAL = ("embeddings", "decay")


@dataclass(frozen=True)
class TreebankStates(SentenceArrays):
    """Sentences, and the vectors of their words, [space, word, width]; spaces: the layers, then `UNCONTEXTUAL`.

    The vectors of a space are as half precision holds them, times a power of 2.
    """

    @cached_property
    def gold(self) -> GoldTrees:
        """Distances and depths of the words of all sentences."""
        return GoldTrees(self.sentences)


def states_pass(model: Model, settings: Settings, corpus: Corpus) -> TreebankPass:
    """The pass over a treebank, whose states are kept; sentences that cannot be scored are counted.

    Raises `HeadscopeError` if a corpus has no dependency trees.
    """
    require_trees(corpus)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    forward, scales = Forward[Any](model), half_scales(model)

    def observe(group: list[Encoded]) -> tuple[list[Parsed], list[Float[np.ndarray, "space word width"]]]:
        (batch, states), lost = forward.states(group), Counter[str]()
        sentences, spaces = [], []
        by_word = (batch.mean_of_pieces.to(states.dtype) @ states).float()  # [layer, example, word, width]
        by_word = by_word.mul_(scales[:, None, None, None]).cpu()
        for row, sentence in sentences_of(batch, lost):
            if len(sentence) < 2 or (sentence.heads == UNKNOWN).any():
                words.counts["sentences of one word, or with a head that has no token"] += 1
                continue
            spaces.append(_spaces(by_word[:, row, sentence.words].numpy()))
            sentences.append(sentence)
        if lost["sentences without a tree"]:
            words.counts["sentences without a tree"] += lost["sentences without a tree"]
        return sentences, spaces

    return ArrayPass(Pass(model, corpus, settings, words), observe, list[Parsed], forward)


def _spaces(states: Float[np.ndarray, "layer word width"]) -> Float[np.ndarray, "space word width"]:
    """The layers, then the embeddings, then their mean over the sentence, weighted by 1/2 for each word of distance."""
    positions = np.arange(states.shape[1])
    weights = 0.5 ** abs(positions[:, None] - positions)  # [word, word]
    decay = weights / weights.sum(1, keepdims=True) @ states[0]
    return np.concatenate([states[1:], states[:1], decay[None]])


@dataclass(frozen=True)
class StateBatch:
    """A batch of sentences, padded with zeros.

    * `real`: which words are not padding.
    """

    numbers: list[int]
    states: Float[Tensor, "space sentence word width"]
    distances: Float[Tensor, "sentence word other"]
    depths: Float[Tensor, "sentence word"]
    real: Bool[Tensor, "sentence word"]


def padded(
    treebank: TreebankStates, numbers: Sequence[int], device: torch.device, most: int | None = None
) -> StateBatch:
    """One batch of sentences, in their first `most` spaces; by default in all."""
    arrays = [treebank.arrays[number][:most] for number in numbers]
    lengths = [len(treebank.sentences[number]) for number in numbers]
    spaces, words, width = len(arrays[0]), max(lengths), arrays[0].shape[-1]
    states = torch.zeros(spaces, len(numbers), words, width)
    apart = torch.zeros(len(numbers), words, words)
    deep = torch.zeros(len(numbers), words)
    for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
        states[:, row, :length] = arrays[row]
        apart[row, :length, :length] = treebank.gold.distances[number]
        deep[row, :length] = treebank.gold.depths[number]
    real = torch.arange(words) < torch.tensor(lengths)[:, None]
    return StateBatch(list(numbers), *(tensor.to(device) for tensor in (states, apart, deep, real)))
