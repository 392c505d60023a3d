"""The steps of a training as the models of a view, whose slider chooses one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from headscope.models import Model
from headscope.training.step_models import step_models


def steps_of(folder: str, loading: Mapping[str, Any]) -> tuple[str, tuple[Model, ...], Callable[[int], None]]:
    """What a training is called, the models of its steps, and what gives them their weights.

    All steps after the start share one network, so that memory holds two, whatever the number of steps.

    * `folder`: that of a fine-tuning that kept steps; `loading`: `device`, `dtype` and `remote_code`.

    Returns: the title, the models, and a function that is called with the number of a model before it runs.

    Raises `HeadscopeError` if the folder holds no kept steps.
    """
    opened = step_models([folder], loading, head=True)

    def prepare(number: int) -> None:
        if number:
            opened.open(number)

    later = [replace(opened.open(at), name=f"step {opened.numbers[at]}") for at in range(1, len(opened.numbers))]
    return opened.title, (replace(opened.start, name="start"), *later), prepare
