"""The tasks by their names, and as many cases of each as are wanted of each part; those that a corpus cannot give."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from headscope.errors import HeadscopeError, suggest
from headscope.studies.layers.tasks import entities, made_texts, numbers, sentences, words
from headscope.studies.layers.tasks.task import ProbeCase, ProbingTask
from headscope.studies.layers.texts import PARTS, Part, Texts

# In the order of a page.
TASKS: dict[str, ProbingTask] = {
    task.name: task for family in (words, entities, sentences, made_texts, numbers) for task in family.TASKS
}
# Fewer cases make no task, and fewer training cases no class.
LEAST: dict[Part, int] = {"train": 20, "choose": 2, "report": 5}
LEAST_OF_CLASS = 5
# Cases for choices, as a share of those for training.
CHOICES = 0.25


def named(names: str) -> list[ProbingTask]:
    """The tasks of a list such as "part_of_speech,tense"; "all" are all but those that have to be named.

    Raises `HeadscopeError` for a name that is none of them.
    """
    if names == "all":
        return [task for task in TASKS.values() if not task.is_asked]
    wanted = [name.strip() for name in names.split(",")]
    if unknown := next((name for name in wanted if name not in TASKS), None):
        raise HeadscopeError(f"task '{unknown}' is unknown; {suggest(unknown, list(TASKS))}")
    return [task for name, task in TASKS.items() if name in wanted]


@dataclass(frozen=True)
class TaskCases:
    """The cases of a task by part; `classes`: its answers in the order of their names, none where they are numbers.

    Answers of fewer than 5 training cases are no class. Cases of the report that have one stay: they count as wrong.
    """

    task: ProbingTask
    cases: Mapping[Part, Sequence[ProbeCase]]
    classes: tuple[str, ...]

    @property
    def rare(self) -> int:
        """The number of cases of the report whose answer is no class."""
        return sum(case.answer not in self.classes for case in self.cases["report"]) if self.classes else 0


def sample(texts: Texts, tasks: Sequence[ProbingTask], most: int, seed: int) -> tuple[list[TaskCases], dict[str, str]]:
    """The cases of each task: up to `most` for training and for the report, a quarter of it for choices.

    All tasks take the sentences in one order, so that tasks of words share their words.

    Returns: the tasks that have enough cases, and for the others the reason by name.
    """
    sampled, left_out = [], {}
    most_of = {"train": most, "choose": max(1, round(CHOICES * most)), "report": most}
    for task in tasks:
        random = np.random.default_rng(seed)
        cases: dict[Part, list[ProbeCase]] = {
            part: list(islice(task.cases(texts, part, random), most_of[part])) for part in PARTS
        }
        classes = () if task.is_value else _classes(cases["train"])
        if not task.is_value:
            cases |= {part: [case for case in cases[part] if case.answer in classes] for part in ("train", "choose")}
        if reason := _reason(task, cases, classes):
            left_out[task.name] = reason
        else:
            sampled.append(TaskCases(task, cases, classes))
    return sampled, left_out


def _classes(cases: Sequence[ProbeCase]) -> tuple[str, ...]:
    counts = Counter(str(case.answer) for case in cases)
    return tuple(sorted(name for name, count in counts.items() if count >= LEAST_OF_CLASS))


def _reason(task: ProbingTask, cases: Mapping[Part, Sequence[ProbeCase]], classes: Sequence[str]) -> str:
    """The reason why a task has too few cases; "" if it has enough."""
    if not any(cases.values()):
        return f"no case; it needs {task.needs}"
    few = next((part for part in PARTS if len(cases[part]) < LEAST[part]), None)
    if few is not None:
        purpose = {"train": "train on", "choose": "choose by", "report": "report"}[few]
        return f"{len(cases[few])} cases to {purpose}, at least {LEAST[few]} are needed"
    return "" if task.is_value or len(classes) > 1 else f"one class ('{classes[0]}')"
