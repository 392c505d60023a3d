"""The tasks of GLUE (and SNLI): their labels, in the order that GLUE numbers them, and their metrics."""

from typing import NamedTuple


class Known(NamedTuple):
    """Labels of a task (none: its answers are numbers), and its metrics, the main one first."""

    labels: tuple[str, ...]
    metrics: tuple[str, ...] = ("accuracy",)


ENTAILS = ("entailment", "not_entailment")
INFERENCE = ("contradiction", "entailment", "neutral")
YES_NO = ("0", "1")

GLUE = {
    "CoLA": Known(YES_NO, ("matthews", "accuracy")),
    "MNLI": Known(INFERENCE),
    "MRPC": Known(YES_NO, ("accuracy", "f1")),
    "QNLI": Known(ENTAILS),
    "QQP": Known(YES_NO, ("accuracy", "f1")),
    "RTE": Known(ENTAILS),
    "SNLI": Known(INFERENCE),
    "SST-2": Known(YES_NO),
    "STS-B": Known((), ("pearson", "spearman")),
    "WNLI": Known(YES_NO),
}


def known(name: str) -> str | None:
    """GLUE's own spelling of a task's name; None if GLUE does not have it.

    >>> known("sts_b"), known("sst2"), known("mine")
    ('STS-B', 'SST-2', None)
    """
    return {_plain(task): task for task in GLUE}.get(_plain(name))


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
