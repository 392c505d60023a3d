"""What is read off a model's logits for a task: few numbers for each example, which can be kept for every head."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.engine.batches import batches
from headscope.engine.losses import NOT_ASKED, collated, losses, masked
from headscope.engine.outputs import inputs_of
from headscope.engine.settings import Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.tasks import Task

# How many axes logits have: an output for each example, or for each of its tokens and all words.
AXES = {"classification": 2, "regression": 2, "masked": 3}


@dataclass(frozen=True)
class Asked:
    """The examples that a task is scored on, as inputs of a model.

    * `answers`: where words behind a mask are asked for, those of each input, else nothing.
    * `cut`: how many inputs were cut to the model's length.
    """

    model: Model
    task: Task
    inputs: Sequence[Encoded]
    answers: Sequence[Int[np.ndarray, " token"]]
    cut: Counter[str]

    def batch(self, group: Sequence[Encoded], settings: Settings) -> "Batch":
        """Some of the inputs as one batch; they are as many as fit into one."""
        (batch,) = batches(self.model, group, settings)
        index: list[int] = batch.index.tolist()
        targets = collated([self.answers[each] for each in index], self.model.device) if self.answers else None
        return Batch(self, batch.inputs, index, targets)

    def refuse(self, logits: Float[Tensor, "example ..."]) -> None:
        """Raise `HeadscopeError` for outputs of a task head for another kind of task."""
        if logits.ndim != AXES[self.task.kind]:
            wanted = "words" if self.task.kind == "masked" else "one class or number for each example"
            raise HeadscopeError(
                f"model '{self.model.name}' gives outputs of shape {tuple(logits.shape)}, not {wanted}; "
                "name a model for this task"
            )


@dataclass(frozen=True)
class Batch:
    """Inputs that go through the model together.

    * `index`: the number of each example; `targets`: words behind a mask, elsewhere `NOT_ASKED`.
    """

    asked: Asked
    inputs: Mapping[str, Int[Tensor, "example token"]]
    index: list[int]
    targets: Int[Tensor, "example token"] | None

    @property
    def read(self) -> Int[Tensor, "example row"]:
        """The tokens that the task head is thought to read: the first, or those behind a mask (and as many others)."""
        if self.targets is None:
            return torch.zeros(len(self.index), 1, dtype=torch.long, device=self.asked.model.device)
        hidden = self.targets != NOT_ASKED
        return hidden.long().argsort(dim=1, descending=True, stable=True)[:, : int(hidden.sum(1).max())]

    def outputs(
        self, logits: Float[Tensor, "example ..."], rows: Int[Tensor, "example row"] | None = None
    ) -> Float[np.ndarray, "example output"]:
        """What a task's metrics are made of: the logits, or the sum of the losses and how many they are.

        * `rows`: the tokens that the logits are of, if not all.

        Raises `HeadscopeError` if they are not numbers, or the task head is one for another kind of task.
        """
        name, kind = self.asked.model.name, self.asked.task.kind
        self.asked.refuse(logits)
        if self.targets is not None:
            targets = self.targets if rows is None else self.targets.gather(1, rows)
            logits = torch.stack([losses(kind, logits, targets), (targets != NOT_ASKED).sum(1)], dim=1)
        if not torch.isfinite(logits).all():
            raise HeadscopeError(
                f"model '{name}' gives outputs that are not finite; use --dtype float32, or another model"
            )
        return logits.to(torch.float32).cpu().numpy()


def asked(model: Model, task: Task, corpus: Corpus, seed: int = 0) -> Asked:
    """The examples of one of a task's splits as inputs of a model.

    * `task`: with its labels in the order of the model's outputs (`tasks.aligned`).
    * `seed`: of the words that are put behind a mask.

    Raises `HeadscopeError` if an example cannot be cut to fit, or the model cannot tell masked words.
    """
    inputs, cut = inputs_of(model, corpus)
    if task.kind != "masked":
        return Asked(model, task, inputs, (), cut)
    questions = [masked(encoded, model.tokenizer, seed) for encoded in inputs]
    return Asked(model, task, [encoded for encoded, _ in questions], [answer for _, answer in questions], cut)
