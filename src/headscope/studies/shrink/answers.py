"""What a model is used for: the embeddings of texts, or the outputs of its task head; and by how much they change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.sentence_pooling import Pooling, pooling_of
from headscope.outputs.losses import mean_state
from headscope.outputs.onnx_outputs import first_output
from headscope.outputs.outputs import in_order, logits
from headscope.outputs.task_inputs import refuse_other_head
from headscope.passes.batches import collator
from headscope.passes.settings import Settings

Outputs = Float[np.ndarray, "example output"]


@dataclass(frozen=True)
class ModelAnswers:
    """The outputs by which a model is judged.

    * `task`: with it, those of the task head; without, embeddings of length 1.
    * `pooling`: the states that an embedding is made of: of the first or the last token, their mean, or the largest
      number of each dimension.
    """

    task: Task | None
    pooling: Pooling

    def answering(self, model: Model) -> Model:
        """The model that is exported to answer: without a head, such as one for masked words, if states answer."""
        return model if self.task is not None else replace(model, network=model.network.base_model)

    def of(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The outputs of a model for inputs that are numbered from 0.

        Raises `HeadscopeError` for a task head of another kind.
        """
        quiet = replace(settings, on_progress=lambda done: None)
        if self.task is not None:
            found = logits(model, inputs, quiet)
            refuse_other_head(torch.from_numpy(found), self.task.kind, model.name)
            return found
        base: Any = self.answering(model).network
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            return self.embedding(base(**batch.inputs)[0], batch.real).cpu().numpy()

        return in_order(base, inputs, outputs, quiet)

    def of_file(self, session: Any, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The outputs of the ONNX file of a model that `answering` returned."""
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            found = first_output(session, batch.inputs)
            # onnxruntime answers on the processor, wherever the model is.
            return (found if self.task is not None else self.embedding(found, batch.real.cpu())).numpy()

        return in_order(model.network, inputs, outputs, replace(settings, on_progress=lambda done: None))

    def embedding(
        self, states: Float[Tensor, "example token width"], real: Bool[Tensor, "example token"]
    ) -> Float[Tensor, "example width"]:
        """Embeddings of length 1 from the last states, in float32 at least."""
        states = states.to(torch.promote_types(states.dtype, torch.float32))
        return normalize(self._pooled(states, real), dim=-1)

    def _pooled(
        self, states: Float[Tensor, "example token width"], real: Bool[Tensor, "example token"]
    ) -> Float[Tensor, "example width"]:
        if self.pooling == "mean":
            return mean_state(states, real)
        if self.pooling == "max":
            return states.masked_fill(~real[..., None], -torch.inf).amax(1)
        places = real.int().argmax(1) if self.pooling == "first" else real.shape[1] - 1 - real.flip(1).int().argmax(1)
        return states[torch.arange(len(states), device=states.device), places]


def answers_of(model: Model, task: Task | None) -> ModelAnswers:
    """How a model answers: by its task head, or by embeddings as its folder of sentence-transformers makes them.

    Raises `HeadscopeError` for a task of words or items, whose outputs are no numbers of an example.
    """
    if task is not None and task.kind not in ("classification", "regression"):
        raise HeadscopeError(f"task '{task.name}' is one of words; shrink for a classification, a regression or texts")
    return ModelAnswers(task, "mean" if task else pooling_of(Path(str(model.network.name_or_path))))


def change(before: Outputs, after: Outputs) -> float:
    """Squared change of outputs by their squared distance from their mean: 0 for none, 1 for all that differs.

    >>> change(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]))
    0.5
    """
    size = float(((before - before.mean(0)) ** 2).sum(dtype=np.float64))
    moved = float(((after - before) ** 2).sum(dtype=np.float64))
    return moved / size if size else float(moved > 0)
