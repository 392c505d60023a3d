"""Tasks: examples with labels, and how outputs of a model are scored against them."""

from headscope.corpora.tasks.labels import aligned
from headscope.corpora.tasks.metrics import LOWER_IS_BETTER, METRICS, intervals, resampled, score, scored, signs
from headscope.corpora.tasks.read import is_table, masked, read, texts, words
from headscope.corpora.tasks.task import Task, TaskKind, chance

__all__ = [
    "LOWER_IS_BETTER",
    "METRICS",
    "Task",
    "TaskKind",
    "aligned",
    "chance",
    "intervals",
    "is_table",
    "masked",
    "read",
    "resampled",
    "score",
    "scored",
    "signs",
    "texts",
    "words",
]
