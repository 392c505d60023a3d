"""How models are judged, beside the whole one: by its answers to texts, or to examples of a task."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.sentence_modules import sentence_modules
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.answers import Answers, Embeddings, TaskAnswers
from headscope.studies.size.shrink.pseudo_labels import task_texts
from headscope.studies.size.shrink.scores import Outputs, Scores
from headscope.studies.size.shrink.splits import Splits, encode


@dataclass(frozen=True)
class Judging:
    """How models are judged: beside the whole one, by its answers to texts.

    * `tolerance`: that the main metric may lose.
    """

    model: Model
    answers: Answers
    texts: Splits
    tolerance: float
    settings: Settings

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

    @property
    def head(self) -> bool:
        """Whether the head of a model answers."""
        return self.answers.task is not None

    def outputs(self, model: Model, inputs: Sequence[Encoded] | None = None) -> Outputs:
        """The outputs of a model for held-out texts; `inputs`: these texts in its own pieces."""
        return self.answers.of(model, self.held_out if inputs is None else inputs, self.settings)

    def scores(self, outputs: Sequence[Outputs]) -> Scores:
        """Held-out scores of several models, the whole one first."""
        return self.answers.scores(outputs, self.texts.units, self.settings)

    def gains(self, outputs: Sequence[Outputs], scores: Scores, first: int = 0) -> Float[np.ndarray, "model 3"]:
        """Gain of the main metric by each model beside one of them, by default the whole one, with its interval."""
        return self.answers.gains(outputs, scores, self.tolerance, self.settings, first)

    def variables(self, outputs: Sequence[Outputs], score: str, gain: str, first: int = 0) -> dict[str, xr.DataArray]:
        """The score of the second of some models, and the gain of the last beside the one at `first`; both by name."""
        scores, examples = self.scores(outputs), len(outputs[0])
        gained = self.gains(outputs, scores, first)[-1]
        made = Variables({"metric": scores.metrics}, STUDY.source, STUDY.labels)
        made.add(score, scores.values[1], interval=scores.bounds[1], count=examples)
        made.add(gain, gained[0], interval=gained[1:], count=examples)
        return made.arrays


def judging_of(
    model: Model, corpus: Corpus, task: Task | None, settings: Settings, tolerance: float | None = None
) -> Judging:
    """How smaller models are judged, by a task or by embeddings.

    * `model`, `task`: see `judged_by`; `tolerance`: None for 0.1 of similarities, and 0.02 of a task.

    Raises `HeadscopeError` for a task of words or items, and see `task_texts`.
    """
    task, texts = task_texts(model, corpus, task, settings)
    answers = answers_of(model, task)
    return Judging(model, answers, texts, answers.tolerance if tolerance is None else tolerance, settings)


def answers_of(model: Model, task: Task | None) -> Answers:
    """How a model answers: by its task head, or by embeddings as its folder of sentence-transformers makes them.

    Raises `HeadscopeError` for a task of words or items, whose outputs are no numbers of an example.
    """
    if task is None:
        return Embeddings(sentence_modules(model.network))
    if task.kind not in ("classification", "regression"):
        raise HeadscopeError(f"task '{task.name}' is one of words; shrink for a classification, a regression or texts")
    return TaskAnswers(task)
