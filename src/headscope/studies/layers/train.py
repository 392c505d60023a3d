"""Training of the classifiers of a group of tasks, in all spaces and with all penalties."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from headscope.studies.layers.features import standard, vectors
from headscope.studies.layers.groups import CaseGroup
from headscope.studies.layers.texts import PARTS
from headscope.studies.layers.train_classes import train_classes
from headscope.studies.layers.train_values import train_values
from headscope.studies.layers.trained_task import ClassifierSettings, GroupVectors, TrainedTask

# Bytes of the vectors of a group that are trained on at once: a processor's cache, or a share of a GPU's memory.
CACHE, GPU_MEMORY = 8_000_000, 1_000_000_000


def train(
    group: CaseGroup,
    tables: Sequence[np.ndarray],
    settings: ClassifierSettings,
    device: torch.device,
    done: Callable[[int], None] = lambda spaces: None,
) -> list[TrainedTask]:
    """Train the classifiers of all tasks of a group in all spaces; `done` receives numbers of spaces."""
    rows = group.units["train"]
    dims = tables[0].shape[1] * (3 if rows.shape[1] == 2 else 1)
    block = CACHE if device.type == "cpu" else GPU_MEMORY
    most = max(1, block // max(1, 4 * dims * len(rows)))
    blocks = [range(first, min(first + most, len(tables))) for first in range(0, len(tables), most)]
    trained: list[list[TrainedTask]] = []
    for spaces in blocks:
        of_parts = {part: vectors(tables, group.units[part], spaces).to(device) for part in PARTS}
        scale = standard(of_parts["train"])
        given = GroupVectors(scale(of_parts.pop("train")), scale(of_parts["choose"]), scale(of_parts["report"]))
        train_tasks = train_classes if group.answers[0].classes else train_values
        trained.append(train_tasks(group, given, settings))
        done(len(spaces))
    return [_joined(of_task) for of_task in zip(*trained, strict=True)]


def _joined(blocks: Sequence[TrainedTask]) -> TrainedTask:
    """One task of several blocks of spaces."""
    arrays = {
        name: np.concatenate([getattr(each, name) for each in blocks], axis=-1)
        for name in ("loss", "choice", "penalty", "code")
    }
    return TrainedTask(base=blocks[0].base, uniform=blocks[0].uniform, **arrays)
