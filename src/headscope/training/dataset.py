"""Labelled training inputs, in batches of similar length."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.encoded import Encoded

# Lengths are sorted within random pools of this many batches.
POOL = 50


@dataclass(frozen=True)
class TrainingSet:
    """Inputs with class numbers, or with scores (`regression`)."""

    inputs: list[Encoded]
    targets: Float[np.ndarray, " example"]
    regression: bool

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[Encoded, float]:
        return self.inputs[index], float(self.targets[index])


class LengthGrouped:
    """Example indices of each batch: similar lengths, and a new seeded order in each epoch."""

    def __init__(self, lengths: list[int], batch: int, seed: int):
        self.lengths, self.batch, self.seed = np.array(lengths), batch, seed
        self.batch_size, self.drop_last, self.sampler = batch, False, None  # accelerate asks for these
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next batches, from 0."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch)

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng([self.seed, self.epoch])
        order = random.permutation(len(self.lengths))
        pools = np.split(order, range(POOL * self.batch, len(order), POOL * self.batch))
        ordered = np.concatenate([pool[np.argsort(self.lengths[pool], kind="stable")] for pool in pools])
        batches = np.split(ordered, range(self.batch, len(ordered), self.batch))
        return (batches[number].tolist() for number in random.permutation(len(batches)))


def collate(group: list[tuple[Encoded, float]], *, pad: int, regression: bool) -> dict[str, Tensor]:
    """Padded keyword arguments of the network, each [example, token], and `labels`, [example]."""
    lengths = [len(encoded) for encoded, _ in group]
    real = np.arange(max(lengths)) < np.array(lengths)[:, None]
    inputs = {"attention_mask": torch.from_numpy(real.astype(np.int64))}
    for name in group[0][0].inputs:
        rows = np.full(real.shape, pad if name == "input_ids" else 0)
        rows[real] = np.concatenate([encoded.inputs[name] for encoded, _ in group])
        inputs[name] = torch.from_numpy(rows)
    targets = torch.tensor([target for _, target in group])
    return inputs | {"labels": targets.float() if regression else targets.long()}
