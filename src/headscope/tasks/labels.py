"""Which output of a model stands for which label."""

import re
from collections.abc import Mapping
from dataclasses import replace

from headscope.errors import HeadscopeError
from headscope.tasks.task import Task

# What transformers calls classes that nobody has named.
UNNAMED = re.compile(r"LABEL_\d+")


def aligned(task: Task, id2label: Mapping[int, str], model: str) -> Task:
    """The task with its labels in the order of a model's outputs.

    * `id2label`: the names of the outputs, from the model's configuration; where they are not named
      ("LABEL_0"), they are taken to be in the task's own order.

    Raises `HeadscopeError` if the model has another number of outputs, or names them otherwise.
    """
    if task.kind == "masked":
        return task
    outputs = [str(id2label[number]) for number in sorted(id2label)]
    expected = len(task.labels) or 1
    if len(outputs) != expected:
        raise HeadscopeError(
            f"model '{model}' has {len(outputs)} outputs ({', '.join(outputs)}), task '{task.name}' has "
            f"{', '.join(task.labels) or 'one, a number'}; name a model that was fine-tuned on this task"
        )
    if task.kind == "regression" or all(UNNAMED.fullmatch(name) for name in outputs):
        return task
    ours = {_plain(label): label for label in task.labels}
    if set(map(_plain, outputs)) != set(ours):
        raise HeadscopeError(
            f"model '{model}' tells {', '.join(outputs)}, task '{task.name}' asks for {', '.join(task.labels)}; "
            "name a model that was fine-tuned on this task, or rename the labels in its config.json (id2label)"
        )
    return replace(task, labels=tuple(ours[_plain(name)] for name in outputs))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
