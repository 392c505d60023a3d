"""Numbers of each head of a network in training: importance, similarity to the start, and what it looks at."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.corpora.tasks import Task
from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.block_parts import BlockParts
from headscope.measures import attention_offset, attention_to, entropy
from headscope.measures.comparisons.similarity import cosine
from headscope.models import Model, wrap
from headscope.outputs.gradient_importance import gate_gradients
from headscope.outputs.task_inputs import TaskInputs
from headscope.passes import Settings
from headscope.passes.batches import by_length
from headscope.passes.forward import Forward, RowObservers
from headscope.passes.observing import MeasureObserver, RowsObserver
from headscope.training.loop import TaskExamples, plain_forward

MEASURES = {"offset": attention_offset, "classes": attention_to, "entropy": entropy}


class _BatchMaps(RowsObserver):
    """The maps of a batch, [example, head, query, key]; heads of all layers stand in a row."""

    key_ranges = False

    def start(self, batch: Batch) -> None:
        self.batch = batch
        self.parts = BlockParts(batch.real.shape[1], merge=lambda first, second: torch.cat([first, second], dim=2))

    def add(self, layer: int, rows: Rows) -> None:
        self.parts.add(layer, rows, rows.attention.clone())

    def finish(self) -> Float[Tensor, "example head query key"]:
        """The maps; 0 in rows of padding."""
        return self.parts.joined() * self.batch.real[:, None, :, None]


class HeadNumbers:
    """Measures the heads of a network again and again, on its first dev examples, beside its maps at the start."""

    def __init__(self, model: Model, task: Task, examples: TaskExamples, settings: Settings, number: int):
        self.settings, self.inputs = settings, list[TaskInputs]()
        if not number:
            return
        self.model = wrap(model.network, model.tokenizer)
        groups = by_length(examples.dev.inputs[:number], settings.batch_tokens)
        self.inputs = [TaskInputs(self.model, task, group) for group in groups]
        self.targets = examples.dev.masked_pieces or examples.targets.tolist()
        self.before = [maps for maps, _ in self._read()]

    def measured(self) -> dict[str, np.ndarray]:
        """The numbers of each head; heads of all layers stand in a row.

        * `importance`: mean over examples of the derivative of the loss in the head's gate (Michel et al. 2019, 4.1).
        * `similarity`: mean cosine of its maps with those at the start (Kovaleva et al. 2019, section 4.3).
        * `focus`: its shares of attention to the previous token, itself and the next one, then to cls, sep and punct;
          `entropy`: of its attention, in nats (Clark et al. 2019, section 3).
        """
        similarity, focus, entropies = list[Tensor](), list[Tensor](), list[Tensor]()
        with plain_forward(self.model.network):
            for before, (maps, values) in zip(self.before, self._read(), strict=True):
                sums = [
                    (first * second).sum((2, 3)) for first, second in ((maps, before), (maps, maps), (before, before))
                ]
                similarity.append(cosine(torch.stack(sums, dim=-1)))
                focus.append(shares(values))
                entropies.append(values["entropy"].values)
            importance = torch.cat(
                [
                    gradients.sum(1).abs()
                    for inputs in self.inputs
                    for _, gradients in gate_gradients(inputs, self.targets, self.settings)
                ]
            )
        return {
            "importance": _mean(importance),
            "similarity": _mean(torch.cat(similarity)),
            "focus": _mean(torch.cat(focus)),
            "entropy": _mean(torch.cat(entropies)),
            "heads": np.array(self.model.capture.heads),
        }

    def _read(self) -> Iterator[tuple[Tensor, dict[str, Values]]]:
        """The maps of each batch, and its measures."""
        maps, measures = _BatchMaps(), MeasureObserver(MEASURES)
        forward = Forward(self.model, RowObservers([maps, measures]))
        with plain_forward(self.model.network):
            for inputs in self.inputs:
                forward.observe(list(inputs.inputs))
                yield maps.finish(), measures.finish()


def shares(values: Mapping[str, Values]) -> Float[Tensor, "example head focus"]:
    """Shares of attention to the previous token, itself and the next one, then to cls, sep and punct."""
    offset, classes = values["offset"].values, values["classes"].values[..., :3]
    return torch.cat([offset, classes], dim=-1)


def _mean(values: Float[Tensor, "example ..."]) -> np.ndarray:
    return values.double().mean(0).float().cpu().numpy()
