"""The tasks by name, the wanted cases of each in each part, and the tasks that a corpus cannot give."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from headscope.errors import HeadscopeError, suggest
from headscope.studies.layers.layers.tasks import ProbeCase, ProbingTask, altered_sentences, numbers, sentences, spans
from headscope.studies.layers.layers.texts import PARTS, Part, Texts

# In the order of a page.
TASKS: dict[str, ProbingTask] = {
    task.name: task
    for task in (*spans.TASKS, *sentences.TASKS, *altered_sentences.TASKS, *numbers.TASKS, spans.LABELLED, spans.SENSES)
}
# Fewer cases make no task, and fewer training cases no class.
LEAST: dict[Part, int] = {"train": 20, "choose": 2, "report": 5}
LEAST_OF_CLASS = 5
# What cases of a part are for, in words.
PURPOSES: dict[Part, str] = {"train": "train on", "choose": "choose by", "report": "report"}
# The one class of all labels of a set that have too few training cases.
RARE = "a rare label"
# Cases for choices, as a share of those for training.
CHOICES = 0.25


def named(names: str, of_corpus: Sequence[ProbingTask] = ()) -> list[ProbingTask]:
    """The tasks of a list such as "part_of_speech,tense"; "all" are all but those that have to be named.

    * `of_corpus`: the tasks of a corpus's labelled spans; if there are some, they alone are all.

    Raises `HeadscopeError` for a name that is not among them.
    """
    if names == "all":
        return list(of_corpus) or [task for task in TASKS.values() if not task.is_asked]
    wanted = [name.strip() for name in names.split(",")]
    if unknown := next((name for name in wanted if name not in TASKS), None):
        raise HeadscopeError(f"task '{unknown}' is unknown; {suggest(unknown, list(TASKS))}")
    chosen = [task for name, task in TASKS.items() if name in wanted]
    return [task for one in chosen for task in (of_corpus if one is spans.LABELLED and of_corpus else [one])]


@dataclass(frozen=True)
class TaskCases:
    """The cases of a task by part; `classes`: its answers in the order of their names, none where they are numbers.

    Answers of fewer than 5 training cases are no class. Cases of the report that have one stay: they count as wrong. In
    sets, such labels are one class together.
    """

    task: ProbingTask
    cases: Mapping[Part, Sequence[ProbeCase]]
    classes: tuple[str, ...]

    @property
    def rare(self) -> int:
        """The number of cases of the report with an answer that has too few training cases."""
        common = set() if self.task.is_sense else set(self.classes) - {RARE}
        return sum(not common.issuperset(self.task.classes_of(case)) for case in self.cases["report"]) if common else 0


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
        cases = _with_senses(cases) if task.is_sense else cases
        classes = _classes(task, cases)
        has_classes = task.is_value or classes or not cases["train"]
        no_class = "" if has_classes else f"no answer has {LEAST_OF_CLASS} training cases"
        if not task.is_value and not task.is_set and not task.is_sense:
            cases |= {part: [case for case in cases[part] if case.answer in classes] for part in ("train", "choose")}
        if reason := no_class or _reason(task, cases, classes):
            left_out[task.name] = reason
        else:
            sampled.append(TaskCases(task, cases, classes))
    return sampled, left_out


def _with_senses(cases: Mapping[Part, Sequence[ProbeCase]]) -> dict[Part, list[ProbeCase]]:
    """The cases of words that have several senses among the training cases."""
    senses = defaultdict[str, set[object]](set)
    for case in cases["train"]:
        senses[case.word].add(first_sense(case))
    return {part: [case for case in some if len(senses[case.word]) > 1] for part, some in cases.items()}


def first_sense(case: ProbeCase) -> str:
    """The sense that a case shows others: the first of its senses."""
    return case.answer[0] if isinstance(case.answer, tuple) else str(case.answer)


def _classes(task: ProbingTask, cases: Mapping[Part, Sequence[ProbeCase]]) -> tuple[str, ...]:
    if task.is_sense:
        return tuple(sorted(set(map(first_sense, cases["train"]))))
    counts = Counter(name for case in cases["train"] for name in task.classes_of(case))
    classes = tuple(sorted(name for name, count in counts.items() if count >= LEAST_OF_CLASS))
    if not task.is_set:
        return classes
    others = {name for part in PARTS for case in cases[part] for name in task.classes_of(case)} - set(classes)
    return (*classes, RARE) if classes and others else classes


def _reason(task: ProbingTask, cases: Mapping[Part, Sequence[ProbeCase]], classes: Sequence[str]) -> str:
    """The reason why a task has too few cases; "" if it has enough."""
    if not any(cases.values()):
        return f"no case; it needs {task.needs}"
    few = next((part for part in PARTS if len(cases[part]) < LEAST[part]), None)
    if few is not None:
        return f"{len(cases[few])} cases to {PURPOSES[few]}, at least {LEAST[few]} are needed"
    return "" if task.is_value or task.is_set or len(classes) > 1 else f"one class ('{classes[0]}')"
