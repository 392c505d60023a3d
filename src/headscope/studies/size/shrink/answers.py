"""How a model answers: by the embeddings of texts, or by the outputs of a task head.

Embeddings are judged by their similarities, without labels; outputs by the labels of held-out examples. In a
classification an input loses the answer that was right before alone, in a regression the growth of its absolute error.
Where the whole model's answers are the labels, it loses the agreement with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.special import softmax
from torch import Tensor
from torch.nn.functional import normalize

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.sentence_modules import SentenceModules
from headscope.outputs.outputs import in_order, logits
from headscope.outputs.promise import Promise
from headscope.outputs.size_and_speed import first_output
from headscope.outputs.task_inputs import refuse_other_head
from headscope.passes.batches import collator
from headscope.passes.settings import Settings
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.rank_correlation import spearman
from headscope.studies.size.shrink.scores import SHOWN, Outputs, Rows, Scores, of_similarities, of_task, pairs, text_of

# A text's similarities to so many others are ranked; pairs are shown whose cosine moved by so much.
MOST_OTHERS, MOVED = 500, 0.01
UNITS = {"classification": "accuracy", "regression": "absolute error"}
AGREEMENT = {"classification": "class agreement", "regression": "absolute difference"}


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of length 1.

    * `modules`: what makes an embedding of the states of a text.
    * `unit`: of what an input may lose; `tolerance`: what the main score may lose, unless it is given.
    """

    modules: SentenceModules
    task: None = None
    classes: bool = False
    unit: str = "rank correlation"
    tolerance: float = 0.1

    def answering(self, model: Model) -> Model:
        """The model without a head, such as one for masked words."""
        return replace(model, network=model.network.base_model)

    def of(self, model: Model, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
        """The embeddings of inputs that are numbered from 0."""
        base: Any = self.answering(model).network
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            return self.from_first(base(**batch.inputs)[0], batch.real).cpu().numpy()

        return in_order(base, inputs, outputs, settings.quiet)

    def learned(self, output: Any, real: Tensor) -> Tensor:
        """The embeddings by what a network in training returns, its hidden states with it."""
        return self.from_first(output.hidden_states[-1], real)

    def from_first(
        self, output: Float[Tensor, "example token width"], real: Bool[Tensor, "example token"]
    ) -> Float[Tensor, "example width"]:
        """Embeddings from the last states, in float32 at least."""
        return normalize(self.modules(output, real), dim=-1)

    def scores(self, outputs: Sequence[Outputs], units: Sequence[int], settings: Settings) -> Scores:
        """See `scores.of_similarities`."""
        return of_similarities(outputs, units, settings.seed, settings.resamples)

    def gains(
        self, outputs: Sequence[Outputs], scores: Scores, tolerance: float, settings: Settings, first: int = 0
    ) -> Float[np.ndarray, "model 3"]:
        """The differences of each model's agreement from that of one of them, with their intervals.

        Beside another than the whole model they are paired in each resample, and two texts have no interval.
        """
        if not first:
            return np.column_stack([scores.changes[:, 0], scores.change_bounds[:, 0]])
        drawn = scores.drawn[..., 0] - scores.drawn[:, first : first + 1, 0]
        many = len(scores.units) > 2
        bounds = interval(drawn, equal_units(scores.units)) if many else np.full((len(outputs), 2), np.nan)
        return np.column_stack([scores.values[:, 0] - scores.values[first, 0], bounds])

    def losses(self, before: Outputs, after: Outputs, seed: int) -> Float[np.ndarray, " text"]:
        """What the rank correlation of each text's similarities to other texts lacks to 1; NaN for fewer than three."""
        number = len(before)
        others = np.sort(np.random.default_rng(seed).permutation(number)[: MOST_OTHERS + 1])
        agreements = np.full(number, np.nan)
        for text in range(number if number > 2 else 0):
            beside = others[others != text][:MOST_OTHERS]
            agreements[text] = spearman(*(outputs[beside] @ outputs[text] for outputs in (before, after)))
        return 1 - agreements

    def changed(self, examples: Sequence[Example], before: Outputs, after: Outputs, seed: int) -> Rows:
        """Pairs of texts by how far their similarity moved; each text is in one pair."""
        first, second = pairs(len(examples), seed)
        then, now = ((outputs[first] * outputs[second]).sum(-1) for outputs in (before, after))
        rows, seen = Rows(), set[int]()
        for pair in np.argsort(-abs(now - then), kind="stable").tolist():
            both = int(first[pair]), int(second[pair])
            if len(rows) == SHOWN or abs(now[pair] - then[pair]) < MOVED:
                break
            if not seen.intersection(both):
                seen.update(both)
                texts = dict(zip(("text", "other"), (text_of(examples[at]) for at in both), strict=True))
                rows.append(texts | {"before": float(then[pair]), "after": float(now[pair])})
        return rows


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
