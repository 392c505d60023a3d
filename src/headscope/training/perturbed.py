"""Train all weights while small vectors are added to the embeddings, against the loss (FreeLB: Zhu et al. 2019).

The loss is the mean over `STEPS` passes with the same examples. From pass to pass the vectors take a step up the
gradient of the loss, and stay within a ball around the embeddings. Sizes are relative to those of the embeddings of an
input, where the paper's are absolute and tuned for each task.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.training.beginning import Beginning
from headscope.training.dataset import TrainingInputs
from headscope.training.initialisation import InitialModel

STEPS = 2
STEP, RADIUS = 0.05, 0.1


@dataclass(frozen=True)
class PerturbedSet:
    """A training set whose loss is that of perturbed embeddings."""

    plain: TrainingInputs

    @property
    def inputs(self) -> list[Encoded]:
        return self.plain.inputs

    def __len__(self) -> int:
        return len(self.plain)

    def __getitem__(self, index: int) -> tuple[Encoded, float]:
        return self.plain[index]

    def collate(self, group: list[tuple[Encoded, float]], pad: int) -> dict[str, Tensor]:
        return self.plain.collate(group, pad)

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The mean of the network's loss over all passes."""
        rest = {name: tensor for name, tensor in batch.items() if name != "input_ids"}
        embeddings = network.get_input_embeddings()(batch["input_ids"])  # [example, token, width]
        real = batch["attention_mask"][..., None]
        size = length(embeddings.detach() * real)
        added, total = torch.zeros_like(embeddings, requires_grad=True), embeddings.new_zeros(())
        for _ in range(STEPS):
            loss = network(inputs_embeds=embeddings + added, **rest).loss
            total = total + loss / STEPS
            (gradient,) = torch.autograd.grad(loss, added, retain_graph=True)
            added = climbed(added, gradient * real, size).requires_grad_()
        return total


def climbed(added: Tensor, gradient: Tensor, size: Tensor) -> Tensor:
    """The vectors after a step up the gradient, back within the ball; `size` is the length of the embeddings."""
    moved = added.detach() + STEP * size * gradient / length(gradient).clamp_min(1e-12)
    return moved * (RADIUS * size / length(moved).clamp_min(1e-12)).clamp_max(1)


def length(vectors: Tensor) -> Tensor:
    """The length of all vectors of an example, [example, 1, 1]."""
    return vectors.flatten(1).norm(dim=1)[:, None, None]


def perturbed(beginning: Beginning) -> InitialModel:
    """Train all weights, with small vectors added to the embeddings against the loss."""
    return replace(beginning.initial(), training_set=PerturbedSet)
