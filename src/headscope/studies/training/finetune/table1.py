"""The training runs of a table: each task with each way to fine-tune and each pair of seeds, kept one by one."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import nn
from transformers import TrainerCallback

from headscope.corpora.tasks import Task
from headscope.corpora.tasks.choices import by_choice
from headscope.corpora.tasks.task import unlearnable
from headscope.models import Model
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.passes import Settings
from headscope.studies.training.finetune.design import Pairs
from headscope.training.beginning import Beginning, RunEnvironment, WayOptions
from headscope.training.head_numbers import HeadNumbers
from headscope.training.initialisation import InitialModel
from headscope.training.loop import Epochs, Paused, TaskExamples, dev_outputs, outputs_for, task_examples, train
from headscope.training.recipe import TrainingRecipe
from headscope.training.recorders import AttentionChange, NormRecorder
from headscope.training.run_record import RunRecord, TrainedOutputs
from headscope.training.steps import StepKeeper, spaced
from headscope.training.ways import WITHOUT_TRAINING, begin, options_of

Key = tuple[str, str, tuple[int, int]]


@dataclass(frozen=True)
class TableRow:
    """A task with its inputs, which all of its runs share.

    * `reader`: a model with the tokenizer and the maximal length of the trained models.
    """

    task: Task
    max_tokens: int
    reader: Model

    @cached_property
    def dev(self) -> TaskInputs:
        """The dev inputs."""
        return task_inputs(self.reader, self.task, self.task.dev, max_tokens=self.max_tokens)

    @cached_property
    def unlearnable(self) -> int:
        """Number of dev examples with a label that the train split lacks."""
        return unlearnable(self.task).total()

    @cached_property
    def examples(self) -> TaskExamples:
        """The training set, and inputs and targets of dev."""
        return task_examples(self.reader, self.dev, self.max_tokens)


@dataclass(frozen=True)
class TrainingRun:
    """A task, a way to fine-tune it, and two seeds.

    * `init`: the way, one of `training.ways.way_names`.
    * `seed`: of new weights; `order`: of the order of examples, and of dropout.
    * `model`: the folder for the trained model, or None; `heads`: how many dev examples the numbers of heads are
      measured on.
    * `kept`: the folder for weights at steps of the training, or None; `spacing`: which steps, see `spaced`.
    """

    row: TableRow
    init: str
    seed: int
    order: int
    recipe: TrainingRecipe
    record: RunRecord
    model: Path | None
    options: WayOptions = field(default_factory=WayOptions)
    heads: int = 0
    kept: Path | None = None
    spacing: str = ""

    @property
    def key(self) -> Key:
        """Task, way, and both seeds."""
        return self.row.task.name, self.init, (self.seed, self.order)

    @property
    def all_steps(self) -> int:
        """Number of training steps."""
        # long texts of words are several inputs, and questions whose answer is cut off none
        several = self.row.task.kind in ("words", "span")
        inputs = len(self.row.examples.train) if several else self.row.task.training().n_examples
        return self.recipe.epochs * -(-inputs // self.recipe.batch)

    @property
    def steps(self) -> int:
        """Number of training steps still to do; 0 for a completed run and without training."""
        if self.init == WITHOUT_TRAINING or self.record.completed():
            return 0
        return self.all_steps

    def prepare(self) -> None:
        """Read the examples, which the runs of a task share."""
        _ = self.init != WITHOUT_TRAINING and self.row.examples

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine the numbers of the run."""
        task = self.row.task
        train = task.training() if self.init != WITHOUT_TRAINING else None
        first, names = self.options.first_task, options_of([self.init])
        further: dict[str, Any] = {name: getattr(self.options, name) for name in names if name != "first_task"}
        if "first_task" in names and first is not None:
            further["first_task"] = f"{first.name}, {first.training().sha256}"
        further |= {"order": self.order} if self.order != self.seed else {}
        further |= {"keep_steps": self.spacing} if self.kept else {}
        further |= {"all_models": True} if self.model and self.model.name == self.record.folder.name else {}
        return {
            "model": environment.sha256,
            "task": task.name,
            "init": self.init,
            "seed": self.seed,
            "train": f"{train.n_examples} examples of {train.sha256}" if train else "none",
            "dev": f"{task.dev.n_examples} examples of {task.dev.sha256}",
        } | (further | self.recipe.as_settings())

    def result(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        """The outputs of the open run, which is done unless it was completed before."""
        trained = self.record.completed() or self._run(environment, replace(settings, seed=self.order))
        if self.model:
            self.record.move_model(self.model)
        return trained

    def pause(self, environment: RunEnvironment, settings: Settings, epoch: int) -> None:
        """Do the open run up to the end of an epoch, unless it is beyond that."""
        if self.init == WITHOUT_TRAINING or self.record.completed() or self.record.has_epoch(epoch):
            return
        with suppress(Paused):
            self._run(environment, replace(settings, seed=self.order), until=epoch)

    def after(self, epoch: int) -> Float[np.ndarray, "example output"]:
        """The dev outputs after an epoch of a run that has reached it."""
        trained = self.record.completed()
        return trained.epoch_outputs[epoch - 1] if trained else self.record.epoch_outputs(epoch)

    def _run(self, environment: RunEnvironment, settings: Settings, until: int | None = None) -> TrainedOutputs:
        start = self._initial(environment, settings)
        if self.init != WITHOUT_TRAINING:
            examples, save = self.row.examples, self.model is not None
            numbers = HeadNumbers(start.model, self.row.task, examples, settings, self.heads)
            epochs = Epochs(
                until,
                lambda: self.record.save_heads(numbers.measured()) if self.heads else None,
                self._callbacks(start, environment, settings),
            )
            return train(start, examples, self.recipe, settings, self.record, save=save, epochs=epochs)
        outputs = dev_outputs(start.model, partial(outputs_for, self.row.dev), settings)
        trained = TrainedOutputs(outputs, outputs[None][:0], np.zeros(0, dtype=np.float32))
        self.record.complete(trained)
        return trained

    def _callbacks(self, start: InitialModel, environment: RunEnvironment, settings: Settings) -> list[TrainerCallback]:
        """What is recorded of the training: lengths of gradients and updates, steps, and the change of attention."""
        callbacks: list[TrainerCallback] = [NormRecorder(start.network)]
        if self.kept:
            callbacks.append(StepKeeper(self.kept, start.model, spaced(self.spacing, self.all_steps)))
        if self.init != "frozen" and start.ordinary:
            before = partial(self._initial, environment, settings)
            task = self.row.task
            corpus = by_choice(task.dev)[0] if task.kind == "choice" else task.dev
            callbacks.append(AttentionChange(before, start, corpus, settings, self.row.max_tokens))
        return callbacks

    def _initial(self, environment: RunEnvironment, settings: Settings) -> InitialModel:
        """The model before the training; each time another one with the same weights."""
        given = Beginning(
            environment=environment, task=self.row.task, seed=self.seed, recipe=self.recipe, settings=settings,
            folder=self.record.folder, options=self.options,
        )  # fmt: skip
        start = begin(self.init, given)
        nn.Module.to(start.network, environment.device)
        return start


def run_name(task: str, init: str, pair: tuple[int, int]) -> str:
    """The name of a run: of the task, of the way, and of its seed, or of both where they differ.

    >>> run_name("MRPC", "finetuned", (1, 1)), run_name("MRPC", "finetuned", (1, 0))
    ('MRPC-finetuned-1', 'MRPC-finetuned-1-0')
    """
    seed, order = pair
    name = f"{task}-{init}-{seed}".replace("/", "-")  # of a corpus in a folder
    return name if seed == order else f"{name}-{order}"


def runs(
    rows: list[TableRow],
    recipes: Mapping[str, TrainingRecipe],
    pairs: Pairs,
    directory: Path,
    models: Mapping[Key, Path],
    options: WayOptions,
    heads: int = 0,
    spacing: str | None = None,
) -> Iterator[TrainingRun]:
    """The runs of each task, way of `recipes` and pair of seeds.

    * `models`: the folders of the models that are kept.
    * `spacing`: which steps of the first pair are kept, see `spaced`; None for none.
    """
    for row in rows:
        for init, recipe in recipes.items():
            for seed, order in pairs:
                record = RunRecord(directory / "runs" / run_name(row.task.name, init, (seed, order)))
                model = models.get((row.task.name, init, (seed, order))) if init != WITHOUT_TRAINING else None
                kept = _steps(model) if model and spacing and (seed, order) == pairs[0] else None
                yield TrainingRun(
                    row, init, seed, order, recipe, record, model, options, heads, kept, spacing or ""
                )  # fmt: skip


def _steps(model: Path) -> Path:
    """The folder of steps beside that of a model: `steps` beside `model`, `steps/NAME` beside `models/NAME`."""
    return model.with_name("steps") if model.name == "model" else model.parent.with_name("steps") / model.name
