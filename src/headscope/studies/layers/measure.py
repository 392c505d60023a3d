"""The scores of all tasks on the hidden states of one model.

Intervals are over sentences, or over documents where the corpora have them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float, Int

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.features import ClassifierSettings, TrainedTask
from headscope.studies.layers.groups import Answers, CaseGroup
from headscope.studies.layers.scalar_mix import MixedTask, mixes
from headscope.studies.layers.train import train


class UnitDraws:
    """Counts of sentences or documents in the resamples; `unit` has the number of that of each text."""

    def __init__(self, unit: Sequence[int], seed: int, resamples: int):
        self.unit = np.array(unit)
        self.seed, self.resamples = seed, resamples

    @cached_property
    def _columns(self) -> dict[int, np.ndarray]:
        return {}

    def of(self, units: Int[np.ndarray, " unit"]) -> Float[np.ndarray, "resample unit"]:
        """The counts of some units."""
        for number in set(units.tolist()) - self._columns.keys():
            self._columns[number] = poisson_draws([number], self.seed, self.resamples)[:, 0]
        return np.stack([self._columns[number] for number in units.tolist()], axis=1)


def score(
    loss: Float[np.ndarray, "case space"],
    base: Float[np.ndarray, " case"],
    texts: Int[np.ndarray, " case"],
    draws: UnitDraws,
    *,
    of_answers: bool = False,
) -> Score:
    """One less the share of the loss in that of `base`: the share right of classes, R^2 of values.

    * `of_answers`: whether each case is right or wrong.

    >>> draws = UnitDraws([0, 1], 0, 5)
    >>> score(np.array([[0.0], [1.0], [1.0], [0.0]]), np.ones(4), np.array([0, 0, 1, 1]), draws).mean
    array([0.5])
    """
    present, row = np.unique(draws.unit[texts], return_inverse=True)
    sums, bases = np.zeros((len(present), loss.shape[1])), np.bincount(row, base, len(present))
    np.add.at(sums, row, loss)
    counts = draws.of(present)
    resampled_base = counts @ bases
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = 1 - (counts @ sums) / resampled_base[:, None]
    units = float(effective_units(resampled_base))
    return Score(1 - sums.sum(0) / bases.sum(), resampled, len(loss), units, of_answers)


def p_value(gain: Score) -> Float[np.ndarray, " space"]:
    """The p-value, one-sided, of no gain: the share of resamples without one, the sample itself counted as one."""
    without = (gain.resampled <= 0).sum(0)
    return (1 + without) / (1 + len(gain.resampled))


@dataclass(frozen=True)
class MeasuredTask:
    """A task on the states of a model, spaces from the embeddings on.

    * `score`: by space; `majority`: of the most frequent class or the mean, one value.
    * `control`: the score of the control task by space, None without one; `selectivity`: the score less that.
    * `cumulative`: scores of the mixes up to each space, None for values; `mix`: weights of the mix of all.
    * `train_cases`, `report_cases`: their numbers.
    """

    trained: TrainedTask
    score: Score
    majority: Score
    control: Score | None
    selectivity: Score | None
    cumulative: Score | None
    mix: np.ndarray | None
    train_cases: int
    report_cases: int

    @property
    def chosen(self) -> int:
        """The space, of the layers, with the best score on the cases for choices."""
        return 1 + int(np.argmax(self.trained.choice[1:]))


def measured(
    groups: Sequence[CaseGroup],
    tables: Sequence[np.ndarray],
    settings: ClassifierSettings,
    draws: UnitDraws,
    device: torch.device,
    *,
    mixed: bool = True,
    done: Callable[[int], None] = lambda spaces: None,
) -> dict[str, MeasuredTask]:
    """Train and score all tasks; `done` receives numbers of spaces of a group.

    * `mixed`: also train scalar mixes.
    """
    measured: dict[str, MeasuredTask] = {}
    for group in groups:
        trained = train(group, tables, settings, device, done)
        tasks = [index for index, answers in enumerate(group.answers) if not answers.control]
        controls = {answers.name: trained[index] for index, answers in enumerate(group.answers) if answers.control}
        mix = [None] * len(tasks)
        if mixed and group.answers[0].classes:
            best = [float(trained[index].penalty[1 + int(np.argmax(trained[index].choice[1:]))]) for index in tasks]
            mix = mixes(group, tables, best, draws.seed, device)
        for index, of_mix in zip(tasks, mix, strict=True):
            measured[group.answers[index].name] = _task(
                group, group.answers[index], trained[index], controls, of_mix, draws
            )
        done(len(tables) if mixed else 0)
    return measured


def _task(
    group: CaseGroup,
    answers: Answers,
    trained: TrainedTask,
    controls: Mapping[str, TrainedTask],
    mix: MixedTask | None,
    draws: UnitDraws,
) -> MeasuredTask:
    texts = group.texts["report"][answers.present("report")]
    scored = partial(score, texts=texts, draws=draws, of_answers=bool(answers.classes))
    scores = scored(trained.loss, trained.base)
    of_control = None
    if answers.name in controls:
        control = controls[answers.name]
        of_control = scored(control.loss, control.base)
    return MeasuredTask(
        trained,
        scores,
        scored(_majority(answers, trained), trained.base),
        of_control,
        None if of_control is None else scores - of_control,
        None if mix is None else scored(mix.loss, trained.base),
        None if mix is None else mix.weights,
        int(answers.present("train").sum()),
        len(texts),
    )


def _majority(answers: Answers, trained: TrainedTask) -> np.ndarray:
    """The loss of the most frequent training class, or of the mean of the training values, [case, 1]."""
    if not answers.classes:
        return trained.base[:, None]
    present = answers.numbers["train"][answers.present("train")]
    guess = np.bincount(present).argmax()
    return (answers.numbers["report"][answers.present("report")] != guess)[:, None].astype(float)
