"""The scores of all tasks on the hidden states of one model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from headscope.statistics.intervals import Score
from headscope.studies.layers.groups import Answers, CaseGroup
from headscope.studies.layers.scalar_mix import MixedTask, mixes
from headscope.studies.layers.scores import UnitDraws, score
from headscope.studies.layers.train import train
from headscope.studies.layers.trained_task import ClassifierSettings, TrainedTask


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
    every: dict[str, MeasuredTask] = {}
    for group in groups:
        trained = train(group, tables, settings, device, done)
        tasks = [place for place, each in enumerate(group.answers) if not each.control]
        controls = {each.name: trained[place] for place, each in enumerate(group.answers) if each.control}
        mix = [None] * len(tasks)
        if mixed and group.answers[0].classes:
            best = [float(trained[place].penalty[1 + int(np.argmax(trained[place].choice[1:]))]) for place in tasks]
            mix = mixes(group, tables, best, draws.seed, device)
        for place, of_mix in zip(tasks, mix, strict=True):
            every[group.answers[place].name] = _task(
                group, group.answers[place], trained[place], controls, of_mix, draws
            )
        done(len(tables) if mixed else 0)
    return every


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
