"""How models are judged beside the whole one: by the embeddings of texts, or by the outputs of a task head.

Embeddings are judged by their similarities, without labels; outputs by the labels of held-out examples. In a
classification an input loses the answer that was right before alone, in a regression the growth of its absolute error.
Where the whole model's answers are the labels, it loses the agreement with them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.special import softmax
from torch import Tensor
from torch.nn.functional import normalize

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.onnx import first_output
from headscope.models.sentence_modules import SentenceModules, sentence_modules
from headscope.outputs.outputs import in_order
from headscope.outputs.promise import Promise
from headscope.passes.batches import collator
from headscope.passes.settings import Settings
from headscope.results.variables import Variables
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.rank_correlation import spearman
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.scores import SHOWN, Outputs, Rows, Scores, of_similarities, of_task, pairs, text_of
from headscope.studies.size.shrink.texts import Splits, encode, task_outputs

# A text's similarities to this many others are ranked; pairs are shown whose cosine moved by so much.
MOST_OTHERS, MOVED = 500, 0.01
UNITS = {"classification": "accuracy", "regression": "absolute error"}
AGREEMENT = {"classification": "class agreement", "regression": "absolute difference"}
# What the main score may lose, of similarities and of a task.
TOLERANCES = 0.1, 0.02


@dataclass(frozen=True)
class Judge(ABC):
    """How models are judged beside the whole one: by what they answer to the same texts.

    * `model`: the whole one; `task`: whose head answers, None for embeddings.
    * `texts`: by their use; `tolerance`: that the main metric may lose.
    """

    model: Model
    task: Task | None
    texts: Splits
    settings: Settings
    tolerance: float

    @cached_property
    def training(self) -> list[Encoded]:
        """The texts of the search as the whole model reads them."""
        return encode(self.model, self.texts.training)

    @cached_property
    def stopping(self) -> list[Encoded]:
        """The texts that choose, as the whole model reads them."""
        return encode(self.model, self.texts.stopping)

    @cached_property
    def held_out(self) -> list[Encoded]:
        """The texts that score, as the whole model reads them."""
        return encode(self.model, self.texts.held_out)

    @cached_property
    def before(self) -> Outputs:
        """The outputs of the whole model for held-out texts."""
        return self.outputs(self.model)

    @property
    def classes(self) -> bool:
        """Whether an answer is a class."""
        return self.task is not None and self.task.kind == "classification"

    @property
    def unit(self) -> str:
        """The unit of what an input may lose."""
        if self.task is None:
            return "rank correlation"
        return (AGREEMENT if self.task.pseudo_labelled else UNITS)[self.task.kind]

    def answering(self, model: Model) -> Model:
        """A model without a head that gives no answer, such as one for masked words."""
        return model if self.task is not None else replace(model, network=model.network.base_model)

    @abstractmethod
    def outputs(self, model: Model, inputs: Sequence[Encoded] | None = None) -> Outputs:
        """The outputs of a model for inputs that are numbered from 0; for None those of held-out texts.

        Raises `HeadscopeError` for a task head of another kind.
        """

    @abstractmethod
    def learned(self, output: Any, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example output"]:
        """The outputs by what a network in training returns, its hidden states with it."""

    def from_first(self, output: Tensor, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example output"]:
        """The outputs by the first output of a network, or of its ONNX file: by default these."""
        return output

    def file_outputs(self, session: Any, model: Model, inputs: Sequence[Encoded]) -> Outputs:
        """The outputs of the ONNX file of a model that `answering` returned."""
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            # onnxruntime answers on the processor, wherever the model is
            return self.from_first(first_output(session, batch.inputs), batch.real.cpu()).numpy()

        return in_order(model.network, inputs, outputs, self.settings.quiet)

    @abstractmethod
    def scores(self, outputs: Sequence[Outputs]) -> Scores:
        """Held-out scores of several models, the whole one first."""

    @abstractmethod
    def gains(self, outputs: Sequence[Outputs], scores: Scores, first: int = 0) -> Float[np.ndarray, "model 3"]:
        """Gain of the main metric by each model beside one of them, by default the whole one, with its interval."""

    @abstractmethod
    def losses(self, before: Outputs, after: Outputs) -> Float[np.ndarray, " example"]:
        """What each held-out example loses, below 0 for a gain; NaN where it is not known."""

    @abstractmethod
    def changed(self, before: Outputs, after: Outputs) -> Rows:
        """Held-out examples that are answered otherwise, those first whose answer moved furthest."""

    def variables(self, outputs: Sequence[Outputs], score: str, gain: str, first: int = 0) -> dict[str, xr.DataArray]:
        """The score of the first of some models, and the gain of the last beside it (`first=1`), or the whole one."""
        outputs, examples = [self.before, *outputs], len(self.before)
        scores = self.scores(outputs)
        gained = self.gains(outputs, scores, first)[-1]
        added = Variables({"metric": scores.metrics}, STUDY.source, STUDY.labels)
        added.add(score, scores.values[1], interval=scores.bounds[1], count=examples)
        added.add(gain, gained[0], interval=gained[1:], count=examples)
        return added.arrays


@dataclass(frozen=True)
class EmbeddingJudge(Judge):
    """Judges by embeddings of length 1; `modules`: what makes an embedding of the states of a text."""

    modules: SentenceModules

    def outputs(self, model: Model, inputs: Sequence[Encoded] | None = None) -> Outputs:
        """See `Judge.outputs`."""
        base: Any = self.answering(model).network
        collate = collator(model)

        def outputs(group: list[Encoded]) -> Outputs:
            batch = collate(group)
            return self.from_first(base(**batch.inputs)[0], batch.real).cpu().numpy()

        return in_order(base, self.held_out if inputs is None else inputs, outputs, self.settings.quiet)

    def learned(self, output: Any, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example width"]:
        """See `Judge.learned`."""
        return self.from_first(output.hidden_states[-1], real)

    def from_first(self, output: Tensor, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example width"]:
        """Embeddings from the last states, in float32 at least."""
        return normalize(self.modules(output, real), dim=-1)

    def scores(self, outputs: Sequence[Outputs]) -> Scores:
        """See `scores.of_similarities`."""
        return of_similarities(outputs, self.texts.units, self.settings.seed, self.settings.resamples)

    def gains(self, outputs: Sequence[Outputs], scores: Scores, first: int = 0) -> Float[np.ndarray, "model 3"]:
        """The differences of each model's agreement from that of one of them, with their intervals.

        Beside another than the whole model they are paired in each resample, and two texts have no interval.
        """
        if not first:
            return np.column_stack([scores.changes[:, 0], scores.change_bounds[:, 0]])
        drawn = scores.drawn[..., 0] - scores.drawn[:, first : first + 1, 0]
        many = len(scores.units) > 2
        bounds = interval(drawn, equal_units(scores.units)) if many else np.full((len(outputs), 2), np.nan)
        return np.column_stack([scores.values[:, 0] - scores.values[first, 0], bounds])

    def losses(self, before: Outputs, after: Outputs) -> Float[np.ndarray, " text"]:
        """What the rank correlation of each text's similarities to other texts lacks to 1; NaN for fewer than three."""
        number = len(before)
        others = np.sort(np.random.default_rng(self.settings.seed).permutation(number)[: MOST_OTHERS + 1])
        agreements = np.full(number, np.nan)
        for text in range(number if number > 2 else 0):
            beside = others[others != text][:MOST_OTHERS]
            agreements[text] = spearman(*(outputs[beside] @ outputs[text] for outputs in (before, after)))
        return 1 - agreements

    def changed(self, before: Outputs, after: Outputs) -> Rows:
        """Pairs of texts by how far their similarity moved; each text is in one pair."""
        first, second = pairs(len(before), self.settings.seed)
        then, now = ((outputs[first] * outputs[second]).sum(-1) for outputs in (before, after))
        rows, seen = Rows(), set[int]()
        for pair in np.argsort(-abs(now - then), kind="stable").tolist():
            both = int(first[pair]), int(second[pair])
            if len(rows) == SHOWN or abs(now[pair] - then[pair]) < MOVED:
                break
            if not seen.intersection(both):
                seen.update(both)
                text, other = (text_of(self.texts.held_out[at]) for at in both)
                rows.append({"text": text, "other": other, "before": float(then[pair]), "after": float(now[pair])})
        return rows


@dataclass(frozen=True)
class TaskJudge(Judge):
    """Judges by the outputs of a task head; scores are of the dev split of the task."""

    task: Task

    @cached_property
    def targets(self) -> Float[np.ndarray, " example"]:
        """The labels of dev as numbers."""
        return self.task.targets(self.task.dev)

    def outputs(self, model: Model, inputs: Sequence[Encoded] | None = None) -> Outputs:
        """See `Judge.outputs`."""
        return task_outputs(model, self.task, self.held_out if inputs is None else inputs, self.settings)

    def learned(self, output: Any, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example output"]:
        """See `Judge.learned`."""
        return output.logits

    def scores(self, outputs: Sequence[Outputs]) -> Scores:
        """See `scores.of_task`."""
        return of_task(self.task, outputs, self.targets, self.settings.seed, self.settings.resamples)

    def gains(self, outputs: Sequence[Outputs], scores: Scores, first: int = 0) -> Float[np.ndarray, "model 3"]:
        """See `Promise.gain`."""
        drawn = self.task.dev.units, self.tolerance, self.settings.seed, self.settings.resamples
        promise = Promise(self.task.metrics[0], self.targets, *drawn, in_order=True)
        return np.stack([promise.gain(outputs[first], after, choosing=True) for after in outputs])

    def losses(self, before: Outputs, after: Outputs) -> Float[np.ndarray, " example"]:
        """See `Judge.losses`."""
        if self.classes:
            right = [(outputs.argmax(-1) == self.targets).astype(float) for outputs in (before, after)]
            return right[0] - right[1]
        errors = [abs(outputs[:, 0] - self.targets) for outputs in (before, after)]
        return errors[1] - errors[0]

    def changed(self, before: Outputs, after: Outputs) -> Rows:
        """Examples of another class, the surest before first; in a regression those whose output moved furthest."""
        if self.classes:
            first, second = before.argmax(-1), after.argmax(-1)
            rows = np.arange(len(first))
            moved = softmax(before, axis=-1)[rows, first] - softmax(after, axis=-1)[rows, first]
            then, now = ([self.task.labels[number] for number in numbers] for numbers in (first, second))
            there = first != second
        else:
            moved = abs(after[:, 0] - before[:, 0])
            then, now = (outputs[:, 0].tolist() for outputs in (before, after))
            there = moved > 0
        order = [at for at in np.argsort(-moved, kind="stable").tolist() if there[at]]
        return [self._row(self.texts.held_out[at]) | {"before": then[at], "after": now[at]} for at in order[:SHOWN]]

    def _row(self, example: Example) -> dict[str, Any]:
        """The text of an example, and its label unless that is the answer of the whole model."""
        label = {} if self.task.pseudo_labelled else {"label": f"{example.label}"}
        return {"text": text_of(example)} | label


def judge_of(
    model: Model, task: Task | None, texts: Splits, settings: Settings, tolerance: float | None = None
) -> Judge:
    """A judge by a task head, or by embeddings as a folder of sentence-transformers makes them.

    * `tolerance`: None for 0.1 of similarities, and 0.02 of a task.

    Raises `HeadscopeError` for a task of words or items, whose outputs are no numbers of an example.
    """
    of_embeddings, of_tasks = TOLERANCES if tolerance is None else (tolerance, tolerance)
    if task is None:
        return EmbeddingJudge(model, None, texts, settings, of_embeddings, sentence_modules(model.network))
    if task.kind not in ("classification", "regression"):
        raise HeadscopeError(
            f"task '{task.name}' has no classes or scores; shrink for a classification, a regression or texts"
        )
    return TaskJudge(model, task, texts, settings, of_tasks)
