"""How small a model may get without a lower score: tested after each step on examples that choose and do not score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs
from headscope.studies.shrink.evidence import gains_of, scores_of
from headscope.studies.shrink.splits import Splits


@dataclass(frozen=True)
class ScoreLimit:
    """What a smaller model may lose of the main score.

    * `task`: the task, whose dev split are the examples that choose; None for texts.
    * `texts`: in the place of held-out ones those that choose; `inputs`: the same for the model.
    * `before`: the outputs of the whole model; `tolerance`: the loss from which on a model is too small.
    """

    answers: ModelAnswers
    task: Task | None
    texts: Splits
    inputs: Sequence[Encoded]
    before: Outputs
    tolerance: float
    settings: Settings

    def keeps(self, model: Model) -> bool:
        """Whether a model surely loses less than the tolerance, by the test of the page (non-inferiority)."""
        outputs = [self.before, self.answers.of(model, self.inputs, self.settings)]
        scores = scores_of(self.task, outputs, self.texts, self.settings)
        return bool(gains_of(self.task, outputs, scores, self.tolerance, self.settings)[-1][1] > -self.tolerance)


def score_limit(
    model: Model,
    answers: ModelAnswers,
    texts: Splits,
    inputs: Sequence[Encoded],
    tolerance: float | None,
    settings: Settings,
) -> ScoreLimit:
    """The limit of a search that ends before the score falls.

    * `inputs`: the examples that choose the epoch of the training; `tolerance`: None for the distance of the whole
      model's score from the worse bound of its 95% interval, on these examples.
    """
    task, chosen = answers.task, texts.stopping or texts.training
    if task is not None:
        name = task.training().name
        task = replace(task, dev=Corpus(name, "", len(chosen), {}, partial(iter, chosen)))
    units = tuple(range(len(chosen)))
    of_choosing = replace(texts, held_out=chosen, units=units)
    before = answers.of(model, inputs, settings)
    if tolerance is None:
        scores = scores_of(task, [before], of_choosing, settings)
        worse = scores.bounds[0, 0, 0 if scores.sign > 0 else 1]
        tolerance = float(abs(scores.values[0, 0] - worse))
    return ScoreLimit(answers, task, of_choosing, inputs, before, tolerance, settings)
