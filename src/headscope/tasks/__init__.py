"""Tasks: examples with labels, and how outputs of a model are scored against them."""

from headscope.tasks.labels import aligned
from headscope.tasks.metrics import LOWER_IS_BETTER, METRICS, resampled, score
from headscope.tasks.read import masked, read, texts
from headscope.tasks.task import Task, TaskKind

__all__ = ["LOWER_IS_BETTER", "METRICS", "Task", "TaskKind", "aligned", "masked", "read", "resampled", "score", "texts"]
