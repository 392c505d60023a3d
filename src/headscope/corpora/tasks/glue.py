"""Labels (in GLUE's numbering) and metrics of the GLUE tasks and of SNLI."""

from typing import NamedTuple


class GlueTask(NamedTuple):
    """Labels of a task (empty for a regression) and its metrics, the main one first."""

    labels: tuple[str, ...]
    metrics: tuple[str, ...] = ("accuracy",)


ENTAILS = ("entailment", "not_entailment")
INFERENCE = ("contradiction", "entailment", "neutral")
YES_NO = ("0", "1")

GLUE = {
    "CoLA": GlueTask(YES_NO, ("matthews", "accuracy")),
    "MNLI": GlueTask(INFERENCE),
    "MRPC": GlueTask(YES_NO, ("accuracy", "f1")),
    "QNLI": GlueTask(ENTAILS),
    "QQP": GlueTask(YES_NO, ("accuracy", "f1")),
    "RTE": GlueTask(ENTAILS),
    "SNLI": GlueTask(INFERENCE),
    "SST-2": GlueTask(YES_NO),
    "STS-B": GlueTask((), ("pearson", "spearman")),
    "WNLI": GlueTask(YES_NO),
}


def glue_name(name: str) -> str | None:
    """GLUE's spelling of a task's name; None for a task outside GLUE.

    >>> glue_name("sts_b"), glue_name("sst2"), glue_name("mine")
    ('STS-B', 'SST-2', None)
    """
    return {_plain(task): task for task in GLUE}.get(_plain(name))


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
