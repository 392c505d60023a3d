"""What held-out texts say of a smaller model: its scores, those of its steps and of other parts, and who loses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, chance
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.sentence_modules import sentence_modules
from headscope.passes import Settings
from headscope.studies.size.shrink import choices, groups, removed
from headscope.studies.size.shrink.embeddings import Embeddings
from headscope.studies.size.shrink.found_search import FoundSearch
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.pseudo_labels import task_texts
from headscope.studies.size.shrink.scores import Outputs, Scores
from headscope.studies.size.shrink.splits import Splits, encode
from headscope.studies.size.shrink.task_answers import Answers, TaskAnswers
from headscope.studies.size.shrink.variables import ShrinkOutcome
from headscope.studies.size.shrink.vocabulary import held_out_counts


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

    def gains(self, outputs: Sequence[Outputs], scores: Scores) -> Float[np.ndarray, "model 3"]:
        """Gain of the main metric by each model."""
        return self.answers.gains(outputs, scores, self.tolerance, self.settings)


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


@dataclass(frozen=True)
class Evidence:
    """What held-out texts say of a smaller model.

    * `outcome`, `variables`, `facts`: see `evidence`.
    * `inputs`: the held-out texts as the smaller model reads them.
    * `stays`: the heads that stay.
    * `before`: the outputs of the model before it was made smaller.
    """

    outcome: ShrinkOutcome
    variables: dict[str, xr.DataArray]
    facts: dict[str, Any]
    inputs: list[Encoded]
    stays: Bool[np.ndarray, "layer head"]
    before: Outputs


def evidence(judging: Judging, search: FoundSearch, measured: Original, untrained: Model, smaller: Model) -> Evidence:
    """Judge the models of all steps and the smaller one, before its training and after it.

    * `measured`: the whole model, whose parts are valued by what they add.
    """
    answers, texts, settings = judging.answers, judging.texts, judging.settings
    size, inputs = search.steps[-1].size, encode(smaller, texts.held_out)
    original, by_parts = search.original, search.choice
    outputs = [judging.outputs(judging.model)]
    outputs += [judging.outputs(original.cut(step.size)) for step in search.steps[1:]]
    chosen = outputs[-1] if by_parts is original else judging.outputs(by_parts.cut(size))
    others = [judging.outputs(one) for one in choices.other_choices(by_parts, size, settings.seed)]
    outputs += [judging.outputs(one, inputs) for one in (untrained, smaller)]
    read, answered = (judging.held_out, inputs), (outputs[0], outputs[-1])
    arrays = choices.variables(judging.scores([outputs[0], chosen, *others]), texts.units) if others else {}
    arrays |= search.variables() | removed.variables(measured, size, original.kept(size))
    drawn = settings.seed, settings.resamples
    arrays |= groups.variables(answers, texts, (judging.model, smaller), read, answered, *drawn)
    facts = {
        "held_out": held_out_counts(judging.model, smaller, judging.held_out, inputs),
        "tolerance": judging.tolerance,
        "changed": answers.changed(texts.held_out, *answered, settings.seed),
    }
    stays = removed.heads_that_stay(measured, size, original.kept(size))
    return Evidence(_outcome(judging, search, outputs), arrays, facts, inputs, stays, outputs[0])


def _outcome(judging: Judging, search: FoundSearch, outputs: list[Outputs]) -> ShrinkOutcome:
    """What a run has found, of the held-out outputs of the models of all steps and further ones, the saved one last."""
    task, steps, scores = judging.answers.task, search.steps, judging.scores(outputs)
    gains = judging.gains(outputs, scores)
    shares = np.array([step.megabytes / steps[0].megabytes for step in steps])
    return ShrinkOutcome(
        steps,
        scores,
        gains[-1],
        needed_share(gains, shares, judging.tolerance),
        scores.values[-1],
        None if task is None else chance(task, task.targets(task.dev)),
        len(outputs[0]),
    )


def outcome_when_loaded(judging: Judging, found: Evidence, written: Model) -> ShrinkOutcome:
    """The outcome with the scores of the saved model, as it was loaded from its folder."""
    scores = judging.scores([found.before, judging.outputs(written, found.inputs)])
    return replace(found.outcome, reloaded=scores.values[-1])


def needed_share(
    gains: Float[np.ndarray, "model 3"], shares: Float[np.ndarray, " step"], tolerance: float
) -> Float[np.ndarray, " 3"]:
    """The smallest share of the size at which the main metric falls by less than the tolerance, with its bounds.

    The upper bound is the smallest share at which it surely does so, the lower one that at which it may. Models are
    tested from the largest on, and the first that fails ends the tests: so they need no correction (see `Promise`).

    * `gains`: of the models of the steps, further ones, and the saved one last, whose share is the last.
    """
    gain, lower, upper = gains.T
    fits = gain > -tolerance, ~(upper <= -tolerance), lower > -tolerance  # without bounds it may, and not surely
    return np.array([_smallest(models, shares) for models in fits])


def _smallest(fits: Bool[np.ndarray, " model"], shares: Float[np.ndarray, " step"]) -> float:
    """The last share before the first that does not fit; the last of all if the saved model fits."""
    unfit = np.flatnonzero(~fits[1 : len(shares)])
    return float(shares[-1] if fits[-1] or not len(unfit) else shares[unfit[0]])
