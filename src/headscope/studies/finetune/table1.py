"""The runs of a table: each task with each init and each seed, kept one by one, so that a table can go on."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from headscope.encoding.encoded import Encoded
from headscope.engine import Settings
from headscope.engine.outputs import inputs_of
from headscope.files import replace_folder, writing
from headscope.models import Model
from headscope.models.checkpoint import Checkpoint
from headscope.tasks import Task
from headscope.training.dataset import Labelled
from headscope.training.initialisation import initial
from headscope.training.loop import Examples, answers, train
from headscope.training.recipe import Recipe
from headscope.training.run_record import Journal, Trained


@dataclass(frozen=True)
class Place:
    """Where a table is computed and kept: the model's files, the folder, the device."""

    checkpoint: Checkpoint
    sha256: str
    directory: Path
    device: torch.device
    remote_code: bool = False


@dataclass(frozen=True)
class Row:
    """A task with its inputs, which are made when they are first needed and then shared by its runs.

    `reader` is any model with the tokenizer and the length of those that are trained.
    """

    task: Task
    max_tokens: int
    reader: Model

    @cached_property
    def dev(self) -> tuple[list[Encoded], Counter[str]]:
        """The dev inputs, and how many were cut."""
        return inputs_of(self.reader, self.task.dev, self.max_tokens)

    @cached_property
    def examples(self) -> Examples:
        """What is trained on and what is scored."""
        task, corpus = self.task, self.task.training()
        inputs, cut = inputs_of(self.reader, corpus, self.max_tokens)
        labelled = Labelled(inputs, task.targets(corpus), task.kind == "regression")
        return Examples(labelled, self.dev[0], task.targets(task.dev), cut.total())


@dataclass(frozen=True)
class Run:
    """One training: a task, an init, a seed; `model` is where its model goes, None where it is not kept."""

    row: Row
    init: str
    seed: int
    recipe: Recipe
    journal: Journal
    model: Path | None

    @property
    def steps(self) -> int:
        """The steps that are to be done: none where nothing is trained, or all is done."""
        if self.init == "pretrained" or self.journal.ended():
            return 0
        return self.recipe.epochs * -(-self.row.task.training().n_examples // self.recipe.batch)

    def settings(self, place: Place) -> dict[str, Any]:
        """All that its numbers depend on."""
        task = self.row.task
        train = task.training() if self.init != "pretrained" else None
        return {
            "model": place.sha256,
            "task": task.name,
            "init": self.init,
            "seed": self.seed,
            "train": f"{train.n_examples} examples of {train.sha256}" if train else "none",
            "dev": f"{task.dev.n_examples} examples of {task.dev.sha256}",
        } | self.recipe.as_settings()

    def result(self, place: Place, settings: Settings) -> Trained:
        """What the run comes to; it is run only if it has not ended before."""
        self.journal.open(self.settings(place))
        trained = self.journal.ended() or self._run(place, replace(settings, seed=self.seed))
        if self.model and self.journal.model.is_dir():
            with writing(self.model, resumable=True):
                replace_folder(self.journal.model, self.model)
        return trained

    def _run(self, place: Place, settings: Settings) -> Trained:
        start = initial(place.checkpoint, self.row.task, self.init, self.seed, remote_code=place.remote_code)
        nn.Module.to(start.network, place.device)
        if self.init != "pretrained":
            save = self.model is not None
            return train(start, self.row.task, self.row.examples, self.recipe, settings, self.journal, save=save)
        outputs = answers(start.model, self.row.dev[0], settings)
        trained = Trained(outputs, outputs[None][:0], np.zeros(0, dtype=np.float32))
        self.journal.end(trained)
        return trained


def runs(
    rows: list[Row],
    recipes: Mapping[str, Recipe],
    seeds: range,
    directory: Path,
    models: Mapping[tuple[str, str], Path],
) -> Iterator[Run]:
    """The runs of each task with each init of `recipes` and each seed; of the first seed the models are kept."""
    for row in rows:
        for init, recipe in recipes.items():
            for seed in seeds:
                journal = Journal(directory / "runs" / f"{row.task.name}-{init}-{seed}")
                model = models[row.task.name, init] if seed == seeds[0] and init != "pretrained" else None
                yield Run(row, init, seed, recipe, journal, model)
