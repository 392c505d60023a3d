"""The scores of all tasks on the hidden states of one model.

Intervals are over sentences, or over documents where the corpora have them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float, Int

from headscope.results.vocabulary import PIECES
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.layers.layers.features import ClassifierSettings, TrainedTask
from headscope.studies.layers.layers.groups import Answers, CaseGroup
from headscope.studies.layers.layers.late_cases import LateCase, late_cases
from headscope.studies.layers.layers.scalar_mix import MixedTask, mixes
from headscope.studies.layers.layers.train import f1_parts, joined_labels, train


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
    base: Float[np.ndarray, " case"] | Float[np.ndarray, "case space"],
    texts: Int[np.ndarray, " case"],
    draws: UnitDraws,
    *,
    of_answers: bool = False,
) -> Score:
    """One minus the share of the loss in that of `base`: the share right of classes, R^2 of values, F1 of sets.

    * `of_answers`: whether each case is right or wrong.

    >>> draws = UnitDraws([0, 1], 0, 5)
    >>> score(np.array([[0.0], [1.0], [1.0], [0.0]]), np.ones(4), np.array([0, 0, 1, 1]), draws).mean
    array([0.5])
    """
    present, row = np.unique(draws.unit[texts], return_inverse=True)
    base = base.reshape(len(loss), -1)
    sums, bases = np.zeros((len(present), loss.shape[1])), np.zeros((len(present), base.shape[1]))
    np.add.at(sums, row, loss)
    np.add.at(bases, row, base)
    counts = draws.of(present)
    resampled_base = counts @ bases
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = 1 - (counts @ sums) / resampled_base
        mean = 1 - sums.sum(0) / bases.sum(0)
    units = float(effective_units(resampled_base).min())
    return Score(mean, resampled, len(loss), units, of_answers)


def p_value(gain: Score) -> Float[np.ndarray, " space"]:
    """The p-value, one-sided, of no gain: the share of resamples without one, the sample itself counted as one."""
    without = (gain.resampled <= 0).sum(0)
    return (1 + without) / (1 + len(gain.resampled))


@dataclass(frozen=True)
class MeasuredTask:
    """A task on the states of a model, spaces from the embeddings on.

    * `score`: by space; `majority`: of the most frequent class or the mean, one value.
    * `control`: the score of the control task by space, None without one; `selectivity`: the score minus that.
    * `cumulative`: scores of the mixes up to each space, None for values; `mix`: weights of the mix of all.
    * `by_pieces`: errors of values of numbers by their numbers of pieces, see `errors_by_pieces`; else empty.
    * `train_cases`, `report_cases`: their numbers; `late`: single cases that mixes get right late, none of sets.
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
    late: tuple[LateCase, ...] = ()
    by_pieces: Sequence[Score] = ()

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
    pieces: Int[np.ndarray, " row"] | None = None,
    done: Callable[[int], None] = lambda spaces: None,
) -> dict[str, MeasuredTask]:
    """Train and score all tasks; `done` receives numbers of spaces of a group.

    * `mixed`: also train scalar mixes; `pieces`: the number of pieces of each row of the tables, 0 of a whole text.
    """
    measured: dict[str, MeasuredTask] = {}
    for group in groups:
        trained = train(group, tables, settings, device, done)
        mixed_tasks: list[MixedTask | None] = [None] * len(trained)
        if mixed and group.answers[0].classes:
            best = [float(task.penalty[1 + int(np.argmax(task.choice[1:]))]) for task in trained]
            mixed_tasks = mixes(group, tables, best, draws.seed, device)
        outcomes = list(map(_Outcome, group.answers, trained, mixed_tasks))
        for name in dict.fromkeys(answers.name for answers in group.answers):
            mine = [outcome for outcome in outcomes if outcome.answers.name == name]
            measured[name] = _task(group, mine, draws, pieces)
        done(len(tables) if mixed else 0)
    return measured


@dataclass(frozen=True)
class _Outcome:
    """The answers of a task, of its control task or of a label, and what was trained on them."""

    answers: Answers
    trained: TrainedTask
    mix: MixedTask | None


def _task(
    group: CaseGroup, outcomes: Sequence[_Outcome], draws: UnitDraws, pieces: Int[np.ndarray, " row"] | None
) -> MeasuredTask:
    """The scores of a task and its control task."""
    mine = [outcome for outcome in outcomes if not outcome.answers.control]
    control = [outcome for outcome in outcomes if outcome.answers.control]
    answers = mine[0].answers
    present = answers.present("report")
    scored = partial(
        score, texts=group.texts["report"][present], draws=draws, of_answers=bool(answers.classes) and not answers.label
    )
    trained = _joined(mine)
    scores = scored(trained.loss, trained.base)
    control_score = None
    if control:
        control_score = scored(_joined(control).loss, _joined(control).base)
    mixed = [outcome.mix for outcome in mine if outcome.mix]
    return MeasuredTask(
        trained,
        scores,
        scored(*_parts(mine, [_majority(outcome.answers, outcome.trained) for outcome in mine])),
        control_score,
        None if control_score is None else scores - control_score,
        scored(*_parts(mine, [mix.loss for mix in mixed])) if mixed else None,
        mixed[0].weights if mixed else None,
        int(answers.present("train").sum()),
        int(present.sum()),
        late_cases(group, answers, mixed[0].guesses) if mixed and not answers.label else (),
        () if answers.classes or pieces is None else _by_pieces(group, mine[0], pieces, draws),
    )


def _by_pieces(
    group: CaseGroup, outcome: _Outcome, pieces: Int[np.ndarray, " row"], draws: UnitDraws
) -> Sequence[Score]:
    """The errors of a task of numbers by their pieces; none of values of whole texts."""
    present = outcome.answers.present("report")
    counts = pieces[group.units["report"][present]]
    if not counts.all():
        return ()
    texts = group.texts["report"][present]
    return errors_by_pieces(outcome.trained.loss, outcome.trained.base, counts.sum(1), texts, draws)


def _joined(outcomes: Sequence[_Outcome]) -> TrainedTask:
    """The outcome of a task: its own, or that of all of its labels."""
    answers, trained = [outcome.answers for outcome in outcomes], [outcome.trained for outcome in outcomes]
    return joined_labels(answers, trained) if answers[0].label else trained[0]


def _parts(outcomes: Sequence[_Outcome], losses: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each case, and its base (see `TrainedTask`); `losses` are of the task, or of each of its labels."""
    answers = [outcome.answers for outcome in outcomes]
    return f1_parts(answers, losses) if answers[0].label else (losses[0], outcomes[0].trained.base)


def _majority(answers: Answers, trained: TrainedTask) -> np.ndarray:
    """The loss of the most frequent training class, or of the mean of the training values, [case, 1]."""
    if not answers.classes:
        return trained.base[:, None]
    present = answers.numbers["train"][answers.present("train")]
    guess = np.bincount(present).argmax()
    return (answers.numbers["report"][answers.present("report")] != guess)[:, None].astype(float)


def errors_by_pieces(
    loss: Float[np.ndarray, "case space"],
    base: Float[np.ndarray, " case"],
    pieces: Int[np.ndarray, " case"],
    texts: Int[np.ndarray, " case"],
    draws: UnitDraws,
) -> list[Score]:
    """The root of the mean squared error, in the unit of the values, of the cases of each number of pieces.

    Spaces are those of the loss, and after them the mean of the training values as the answer to all (after Wallace et
    al. 2019). No case has NaN.

    * `loss`, `base`: squared errors in each space, and of that mean; `pieces`: of all numbers of a case together.
    * `texts`: the number of the text of each case.
    """
    squares, spaces = np.column_stack([loss, base]), loss.shape[1] + 1
    groups, errors = np.minimum(pieces, len(PIECES)), []
    for size in range(1, len(PIECES) + 1):
        some = groups == size
        if some.any():
            share = score(squares[some], np.ones(int(some.sum())), texts[some], draws)
            roots = {name: np.sqrt(np.maximum(1 - getattr(share, name), 0)) for name in ("mean", "resampled")}
            errors.append(replace(share, **roots))
        else:
            errors.append(Score(np.full(spaces, np.nan), np.full((1, spaces), np.nan), 0))
    return errors
