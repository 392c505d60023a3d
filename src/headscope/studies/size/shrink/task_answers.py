"""A model that is used for a task: it is judged by the outputs of its head, and the labels of held-out examples.

In a classification an input loses the answer that was right before alone, in a regression the growth of its absolute
error. Where the whole model's answers are the labels, it loses the agreement with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import softmax
from torch import Tensor

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.outputs.onnx_outputs import first_output
from headscope.outputs.outputs import in_order, logits
from headscope.outputs.promise import Promise
from headscope.outputs.task_inputs import refuse_other_head
from headscope.passes.batches import collator
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.embeddings import Embeddings
from headscope.studies.size.shrink.scores import SHOWN, Outputs, Rows, Scores, of_task, text_of

UNITS = {"classification": "accuracy", "regression": "absolute error"}
AGREEMENT = {"classification": "class agreement", "regression": "absolute difference"}


@dataclass(frozen=True)
class TaskAnswers:
    """The outputs of a task head; scores are of the dev split of the task."""

    task: Task
    tolerance: float = 0.02

    @property
    def classes(self) -> bool:
        """Whether an answer is a class."""
        return self.task.kind == "classification"

    @property
    def unit(self) -> str:
        """The unit of what an input may lose."""
        return (AGREEMENT if self.task.pseudo_labelled else UNITS)[self.task.kind]

    def answering(self, model: Model) -> Model:
        """The model, with its head."""
        return model

    def of(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The outputs for inputs that are numbered from 0.

        Raises `HeadscopeError` for a task head of another kind.
        """
        outputs = logits(model, inputs, settings.quiet)
        refuse_other_head(torch.from_numpy(outputs), self.task.kind, model.name)
        return outputs

    def learned(self, output: Any, real: Tensor) -> Tensor:
        """The outputs by what a network in training returns."""
        return output.logits

    def from_first(self, output: Tensor, real: Tensor) -> Tensor:
        """The outputs by the first output of its ONNX file."""
        return output

    def scores(self, outputs: Sequence[Outputs], units: Sequence[int], settings: Settings) -> Scores:
        """See `scores.of_task`."""
        return of_task(self.task, outputs, self.task.targets(self.task.dev), settings.seed, settings.resamples)

    def gains(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings, first: int = 0
    ) -> Float[np.ndarray, "model 3"]:
        """See `Promise.gain`."""
        targets, units = self.task.targets(self.task.dev), self.task.dev.units
        drawn = settings.seed, settings.resamples
        promise = Promise(self.task.metrics[0], targets, units, tolerance, *drawn, in_order=True)
        return np.stack([promise.gain(outputs[first], after, choosing=True) for after in outputs])

    def losses(self, before: Outputs, after: Outputs, seed: int) -> Float[np.ndarray, " example"]:
        """What each example of dev loses, below 0 for a gain."""
        targets = self.task.targets(self.task.dev)
        if self.classes:
            right = [(outputs.argmax(-1) == targets).astype(float) for outputs in (before, after)]
            return right[0] - right[1]
        errors = [abs(outputs[:, 0] - targets) for outputs in (before, after)]
        return errors[1] - errors[0]

    def changed(self, examples: Sequence[Example], before: Outputs, after: Outputs, seed: int) -> Rows:
        """Examples of another class, the surest before first; in a regression those whose output moved furthest."""
        if self.classes:
            first, second = before.argmax(-1), after.argmax(-1)
            rows = np.arange(len(first))
            moved = softmax(before, axis=-1)[rows, first] - softmax(after, axis=-1)[rows, first]
            names = ([self.task.labels[number] for number in numbers] for numbers in (first, second))
            there = first != second
        else:
            moved = abs(after[:, 0] - before[:, 0])
            names, there = (outputs[:, 0].tolist() for outputs in (before, after)), moved > 0
        then, now = names
        order = [at for at in np.argsort(-moved, kind="stable").tolist() if there[at]]
        return [self._row(examples[at]) | {"before": then[at], "after": now[at]} for at in order[:SHOWN]]

    def _row(self, example: Example) -> dict[str, Any]:
        """The text of an example, and its label unless that is the answer of the whole model."""
        label = {} if self.task.pseudo_labelled else {"label": f"{example.label}"}
        return {"text": text_of(example)} | label


Answers = Embeddings | TaskAnswers


def file_answers(
    answers: Answers, session: Any, model: Model, inputs: Sequence[Encoded], settings: Settings
) -> Outputs:
    """The outputs of the ONNX file of a model that `answering` returned."""
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Outputs:
        batch = collate(group)
        # onnxruntime answers on the processor, wherever the model is
        return answers.from_first(first_output(session, batch.inputs), batch.real.cpu()).numpy()

    return in_order(model.network, inputs, outputs, settings.quiet)
