"""Sentences with their hidden states in padded batches, for probes."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.studies.structure.treebank_states import TreebankStates


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


def padded(treebank: TreebankStates, numbers: Sequence[int], device: torch.device) -> StateBatch:
    """One batch of sentences."""
    lengths = [len(treebank.sentences[number]) for number in numbers]
    spaces, _, width = treebank.arrays[numbers[0]].shape
    words = max(lengths)
    states = torch.zeros(spaces, len(numbers), words, width)
    apart = torch.zeros(len(numbers), words, words)
    deep = torch.zeros(len(numbers), words)
    for place, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
        states[:, place, :length] = treebank.arrays[number]
        apart[place, :length, :length] = treebank.gold.distances[number]
        deep[place, :length] = treebank.gold.depths[number]
    real = torch.arange(words) < torch.tensor(lengths)[:, None]
    return StateBatch(list(numbers), *(each.to(device) for each in (states, apart, deep, real)))
