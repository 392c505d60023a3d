"""The training runs of a table: each task with each init and each seed, kept one by one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import nn

from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import unlearnable
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.passes import Settings
from headscope.training.dataset import TrainingSet
from headscope.training.environment import RunEnvironment
from headscope.training.initialisation import initial
from headscope.training.loop import TaskExamples, dev_outputs, train
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord, TrainedOutputs


@dataclass(frozen=True)
class TableRow:
    """A task with its inputs, which all of its runs share.

    * `reader`: a model with the tokenizer and the maximal length of the trained models.
    """

    task: Task
    max_tokens: int
    reader: Model

    @cached_property
    def dev(self) -> tuple[list[Encoded], Counter[str]]:
        """The dev inputs. Returns: the inputs; numbers of shortened inputs."""
        return encode_for_task(self.reader, self.task.dev, self.max_tokens)

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example output"]:
        """Logits of a model for the dev inputs."""
        return logits(model, self.dev[0], settings)

    @cached_property
    def unlearnable(self) -> int:
        """Number of dev examples with a label that the train split lacks."""
        return unlearnable(self.task).total()

    @cached_property
    def examples(self) -> TaskExamples:
        """The training set, and inputs and targets of dev."""
        task, corpus = self.task, self.task.training()
        inputs, cut = encode_for_task(self.reader, corpus, self.max_tokens)
        training_set = TrainingSet(inputs, task.targets(corpus), task.kind == "regression")
        return TaskExamples(training_set, self.dev[0], task.targets(task.dev), cut.total())


@dataclass(frozen=True)
class TrainingRun:
    """A task, an init and a seed; `model` is the folder for the trained model, or None."""

    row: TableRow
    init: str
    seed: int
    recipe: TrainingRecipe
    record: RunRecord
    model: Path | None

    @property
    def steps(self) -> int:
        """Number of training steps still to do; 0 for a completed run and without training."""
        if self.init == "pretrained" or self.record.completed():
            return 0
        return self.recipe.epochs * -(-self.row.task.training().n_examples // self.recipe.batch)

    def open(self, environment: RunEnvironment, on_notice: Callable[[str], None]) -> None:
        """Begin or continue the run; see `RunRecord.open`."""
        self.record.open(self.settings(environment), on_notice)

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine the numbers of the run."""
        task = self.row.task
        train = task.training() if self.init != "pretrained" else None
        return {
            "model": environment.sha256,
            "task": task.name,
            "init": self.init,
            "seed": self.seed,
            "train": f"{train.n_examples} examples of {train.sha256}" if train else "none",
            "dev": f"{task.dev.n_examples} examples of {task.dev.sha256}",
        } | self.recipe.as_settings()

    def result(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        """The outputs of the open run, which is done unless it was completed before."""
        trained = self.record.completed() or self._run(environment, replace(settings, seed=self.seed))
        if self.model:
            self.record.move_model(self.model)
        return trained

    def _run(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        start = initial(
            environment.checkpoint, self.row.task, self.init, self.seed, remote_code=environment.remote_code
        )
        nn.Module.to(start.network, environment.device)
        if self.init != "pretrained":
            save = self.model is not None
            return train(start, self.row.task, self.row.examples, self.recipe, settings, self.record, save=save)
        outputs = dev_outputs(start.model, self.row.outputs, settings)
        trained = TrainedOutputs(outputs, outputs[None][:0], np.zeros(0, dtype=np.float32))
        self.record.complete(trained)
        return trained


def runs(
    rows: list[TableRow],
    recipes: Mapping[str, TrainingRecipe],
    seeds: range,
    directory: Path,
    models: Mapping[tuple[str, str], Path],
) -> Iterator[TrainingRun]:
    """The runs of each task, init of `recipes` and seed; the models of the first seed are kept."""
    for row in rows:
        for init, recipe in recipes.items():
            for seed in seeds:
                record = RunRecord(directory / "runs" / f"{row.task.name}-{init}-{seed}")
                model = models[row.task.name, init] if seed == seeds[0] and init != "pretrained" else None
                yield TrainingRun(row, init, seed, recipe, record, model)
