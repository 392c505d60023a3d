"""Tasks in groups that share their cases: the vectors of a group are read once for all of its tasks."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.errors import HeadscopeError
from headscope.studies.layers.layers.sampling import PURPOSES, RARE, TaskCases
from headscope.studies.layers.layers.tasks import ProbeCase, ProbingTask, Span
from headscope.studies.layers.layers.texts import PARTS, Part

# Tasks share a group if at least this share of all their training cases is of both.
SHARED = 0.5
ABSENT = -1
# The number of an answer that is no class of a classifier: whatever is read is wrong.
NO_CLASS = -2
WHOLE_TEXT = (-1, -1)
Key = tuple[int, tuple[Span, ...]]
Unit = tuple[int, int, int]


@dataclass(frozen=True)
class Answers:
    """The answers of a task for the cases of a group, by part.

    * `numbers`: of the class, `NO_CLASS` for any other answer, `ABSENT` for a case of other tasks; or values, or NaN.
    * `classes`: the number of classes, 0 for values; `control`: answers that each word has at random.
    * `label`: of the task's label that is asked for, 1 or 0, where its answers are sets; else "".
    """

    name: str
    classes: int
    numbers: Mapping[Part, np.ndarray]
    control: bool = False
    label: str = ""

    def present(self, part: Part) -> Bool[np.ndarray, " case"]:
        """Which cases are of this task."""
        return self.numbers[part] != ABSENT if self.classes else ~np.isnan(self.numbers[part])


@dataclass(frozen=True)
class CaseGroup:
    """Cases of tasks that share them.

    * `units`: rows of the vectors of each case by part: one or two.
    * `texts`: the number of the text of each case, by part.
    """

    units: Mapping[Part, Int[np.ndarray, "case span"]]
    texts: Mapping[Part, Int[np.ndarray, " case"]]
    answers: Sequence[Answers]


@dataclass
class Units:
    """Spans of texts whose vectors are wanted, each with a row."""

    rows: dict[Unit, int] = field(default_factory=dict)

    def row(self, text: int, span: Span) -> int:
        """The row of a span."""
        return self.rows.setdefault((text, *span), len(self.rows))


def grouped(sampled: Sequence[TaskCases], units: Units, seed: int, controls: bool = True) -> list[CaseGroup]:
    """The tasks in groups; rows are added to `units`. Training cases come in random order.

    * `controls`: add a control task to each task of words.
    """
    groups: list[list[TaskCases]] = []
    for task_cases in sampled:
        fitting = next((index for index, group in enumerate(groups) if _share(group[0], task_cases) >= SHARED), None)
        if fitting is None:
            groups.append([task_cases])
        else:
            groups[fitting].append(task_cases)
    return [_group(group, units, seed, controls) for group in groups]


def _key(case: ProbeCase) -> Key:
    return case.text, case.spans


def _share(one: TaskCases, other: TaskCases) -> float:
    """The share of the training cases of either task that both have; 0 for values beside classes."""
    if one.task.is_value != other.task.is_value:
        return 0.0
    first, second = ({_key(case) for case in task.cases["train"]} for task in (one, other))
    return len(first & second) / len(first | second)


def _group(tasks: Sequence[TaskCases], units: Units, seed: int, controls: bool) -> CaseGroup:
    random = np.random.default_rng(seed)
    indices: dict[Part, dict[Key, int]] = {}
    for part in PARTS:
        keys = list(dict.fromkeys(_key(case) for task in tasks for case in task.cases[part]))
        keys = [keys[index] for index in random.permutation(len(keys))] if part == "train" else sorted(keys)
        indices[part] = {key: index for index, key in enumerate(keys)}
    rows = {
        part: np.array([[units.row(text, span) for span in spans or (WHOLE_TEXT,)] for text, spans in indices[part]])
        for part in PARTS
    }
    texts = {part: np.array([text for text, _ in indices[part]]) for part in PARTS}
    answers = [answers for task in tasks for answers in _answers(task, indices)]
    if controls:
        with_words = [task for task in tasks if any(case.word for case in task.cases["train"])]
        answers += [control for task in with_words for control in _control(task, indices, seed)]
    return CaseGroup(rows, texts, answers)


def _answers(task: TaskCases, indices: Mapping[Part, Mapping[Key, int]]) -> Iterator[Answers]:
    """The answers of a task; where they are sets, those of each label."""
    if not task.classes:
        yield Answers(task.task.name, 0, _by_part(task, indices, np.nan, lambda case: case.answer))
        return
    for label, classes, number in _questions(task):
        yield Answers(task.task.name, classes, _by_part(task, indices, ABSENT, number), label=label)


def _questions(task: TaskCases) -> Iterator[tuple[str, int, Callable[[ProbeCase], int]]]:
    """The questions of a task: the class of a case, or for sets whether a case has each label.

    Yields the label, the number of answers, and the number of the right one.
    """
    number = {name: index for index, name in enumerate(task.classes)}
    if not task.task.is_set:
        yield "", len(number), lambda case: number.get(str(case.answer), NO_CLASS)
        return
    frequent = frozenset(number) - {RARE}
    for label in task.classes:
        yield label, 2, partial(_has, task.task, label, frequent)


def _has(task: ProbingTask, label: str, frequent: frozenset[str], case: ProbeCase) -> int:
    """1 if a set has the label, or, for that of all rare ones, one that is not frequent; else 0."""
    labels = task.classes_of(case)
    return int(not frequent.issuperset(labels) if label == RARE else label in labels)


def _control(task: TaskCases, indices: Mapping[Part, Mapping[Key, int]], seed: int) -> Iterator[Answers]:
    """Answers of a control task (Hewitt and Liang 2019): each word has one at random, as frequent as in the task."""
    for label, classes, number in _questions(task):
        shares = np.bincount([number(case) for case in task.cases["train"]], minlength=classes)
        ends: Float[np.ndarray, " class"] = np.cumsum(shares) / shares.sum()

        def at_random(case: ProbeCase, of: str = f"{seed} {task.task.name}{label}", ends: np.ndarray = ends) -> int:
            uniform = zlib.crc32(f"{of} {case.word}".encode()) / 2**32
            return int(np.searchsorted(ends, uniform, side="right"))

        numbers = _by_part(task, indices, ABSENT, at_random)
        yield Answers(task.task.name, classes, numbers, control=True, label=label)


def _by_part(
    task: TaskCases, indices: Mapping[Part, Mapping[Key, int]], absent: float, answer: Callable[[ProbeCase], Any]
) -> dict[Part, np.ndarray]:
    """The answers of a task at the places of its cases, `absent` at those of other tasks."""
    arrays = {}
    for part in PARTS:
        arrays[part] = np.full(len(indices[part]), absent)
        for case in task.cases[part]:
            arrays[part][indices[part][_key(case)]] = answer(case)
    return arrays


def with_vectors(group: CaseGroup, filled: Bool[np.ndarray, " row"]) -> CaseGroup:
    """The cases all of whose spans have a vector."""
    kept = {part: filled[group.units[part]].all(1) for part in PARTS}
    answers = [
        replace(answers, numbers={part: answers.numbers[part][kept[part]] for part in PARTS})
        for answers in group.answers
    ]
    units, texts = ({part: numbers[part][kept[part]] for part in PARTS} for numbers in (group.units, group.texts))
    return CaseGroup(units, texts, answers)


def refuse_without_cases(groups: Sequence[CaseGroup]) -> None:
    """Raise `HeadscopeError` if a part of a task has no case with a vector: texts are longer than the model reads."""
    for answers in (answers for group in groups for answers in group.answers):
        if empty := next((part for part in PARTS if not answers.present(part).any()), None):
            said = f"no case to {PURPOSES[empty]} has a token that the model reads"
            raise HeadscopeError(f"task '{answers.name}': {said}; shorten the texts")
