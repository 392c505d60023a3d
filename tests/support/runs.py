"""The functions of studies as commands call them: `from support.runs import finetune as run`."""

from collections.abc import Callable
from typing import Any

from headscope import catalog
from headscope.front.signatures import read


def __getattr__(study: str) -> Callable[..., Any]:
    """The function `run` of a study, of which each option of a group is an argument of its own."""
    if study not in catalog.names("studies"):
        raise AttributeError(study)
    return read(study, "study", "run").load()
