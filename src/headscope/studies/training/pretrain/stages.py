"""Objectives one after the other, or beside each other, after ERNIE 2.0 (Sun et al. 2019b, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import Masking
from headscope.errors import HeadscopeError, suggest
from headscope.studies.training.pretrain.blocks import TextBlock
from headscope.studies.training.pretrain.ways import WAYS, PretrainingWay
from headscope.training.dataset import MaskedTrainingSet, TrainingInputs

THEN, AND = "-then-", "+"


def named(names: str) -> tuple[str, ...]:
    """The ways of a list such as "tokens,tokens-then-words".

    Raises `HeadscopeError` with near-miss names for one that is unknown, or if `next-word` is joined with another.

    >>> named("tokens, words")
    ('tokens', 'words')
    """
    ways = tuple(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in ways:
        parts = [part for stage in stages_of(name) for part in stage]
        for part in parts:
            if part not in WAYS:
                raise HeadscopeError(f"way '{part}' is unknown; {suggest(part, WAYS)}")
        if len(parts) > 1 and any(WAYS[part].causal for part in parts):
            raise HeadscopeError(
                f"way '{name}': tokens of next-word see only what stands before them, those of other ways all; "
                "name next-word by itself"
            )
    return ways


def stages_of(name: str) -> tuple[tuple[str, ...], ...]:
    """The ways of each stage of a way.

    >>> stages_of("tokens-then-tokens+words")
    (('tokens',), ('tokens', 'words'))
    """
    return tuple(tuple(stage.split(AND)) for stage in name.split(THEN))


def objectives_of(name: str) -> list[PretrainingWay]:
    """What each objective of a way changes, in the order of its stages."""
    return [WAYS[way] for stage in stages_of(name) for way in stage]


def refuse_few_epochs(names: Sequence[str], epochs: int) -> None:
    """Raise `HeadscopeError` if a way has more stages than there are epochs."""
    for name in names:
        if (number := len(stages_of(name))) > epochs:
            raise HeadscopeError(f"way '{name}' has {number} stages of an epoch or more; use --epochs {number} or more")


def training_set(
    name: str, blocks: Sequence[TextBlock], tokenizer: PreTrainedTokenizerBase, masking: Masking, seed: int, epochs: int
) -> TrainingInputs:
    """The blocks as inputs with the objectives of a way; `seed` is that of masks, and of which objective is whose."""
    stages = [[WAYS[way].training_set(blocks, tokenizer, masking, seed) for way in stage] for stage in stages_of(name)]
    return stages[0][0] if len(stages) == len(stages[0]) == 1 else StagedTrainingSet(stages, seed, epochs)


@dataclass
class StagedTrainingSet:
    """The inputs of several objectives: each stage has an equal part of the epochs, the first ones one more.

    Within a stage of several objectives each input is given to one of them by chance, anew in each epoch.
    """

    stages: list[list[MaskedTrainingSet]]
    seed: int
    epochs: int
    epoch: int = field(default=0, init=False)

    @property
    def inputs(self) -> list[Encoded]:
        """The inputs of the first objective: those of others are as long."""
        return self.stages[0][0].inputs

    @cached_property
    def objectives(self) -> list[MaskedTrainingSet]:
        """The objectives of all stages in their order."""
        return [objective for stage in self.stages for objective in stage]

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next inputs, from 0."""
        self.epoch = epoch
        for objective in self.objectives:
            objective.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[int, Any]:
        """The number of an objective, and its input."""
        stage = self.epoch * len(self.stages) // self.epochs
        random = np.random.Generator(np.random.Philox(key=[self.seed, index], counter=[0, 0, 3, self.epoch]))
        number = sum(map(len, self.stages[:stage])) + int(random.integers(len(self.stages[stage])))
        return number, self.objectives[number][index]

    def collate(self, group: list[tuple[int, Any]], pad: int) -> dict[str, Any]:
        """A batch of each objective, by its number."""
        inputs: dict[str, list[Any]] = {}
        for number, encoded in group:
            inputs.setdefault(str(number), []).append(encoded)
        return {number: self.objectives[int(number)].collate(part, pad) for number, part in inputs.items()}

    def loss(self, network: Any, batch: dict[str, Any]) -> Tensor:
        """The mean of the losses of the objectives, each with the number of its inputs."""
        sizes = {number: len(part["labels"]) for number, part in batch.items()}
        losses = [
            self.objectives[int(number)].loss(network, part) * sizes[number] / sum(sizes.values())
            for number, part in batch.items()
        ]
        return sum(losses[1:], losses[0])
