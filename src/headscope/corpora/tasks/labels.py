"""The order of a task's labels in the outputs of a model."""

import re
from collections.abc import Mapping
from dataclasses import replace

from headscope.corpora.tasks.task import Task
from headscope.errors import HeadscopeError

# The default class names of transformers.
UNNAMED = re.compile(r"LABEL_\d+")


def aligned(task: Task, id2label: Mapping[int, str], model: str) -> Task:
    """The task with its labels in the order of a model's outputs.

    * `id2label`: the names of the outputs, from the model's configuration; default names ("LABEL_0")
      stand for the task's own order.
    * `model`: the model's name, for messages.

    Raises `HeadscopeError` if the model has another number of outputs, or other names for them.
    """
    if task.kind in ("masked", "cloze"):
        return task
    outputs = [str(id2label[number]) for number in sorted(id2label)]
    expected = len(task.labels) or 1
    if len(outputs) != expected:
        raise HeadscopeError(
            f"model '{model}' has {len(outputs)} outputs ({', '.join(outputs)}), task '{task.name}' has {expected} "
            f"({', '.join(task.labels) or 'a number'}); use a model that was fine-tuned on this task"
        )
    if task.kind == "regression" or all(UNNAMED.fullmatch(name) for name in outputs):
        return task
    ours = {_plain(label): label for label in task.labels}
    if set(map(_plain, outputs)) != set(ours):
        raise HeadscopeError(
            f"model '{model}' has the labels {', '.join(outputs)}, task '{task.name}' has {', '.join(task.labels)}; "
            "use a model that was fine-tuned on this task, or rename the labels in its config.json (id2label)"
        )
    return replace(task, labels=tuple(ours[_plain(name)] for name in outputs))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
