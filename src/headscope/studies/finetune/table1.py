"""The training runs of a table: each task with each init and each seed, kept one by one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import nn
from transformers import TrainerCallback

from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import unlearnable
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.passes import Settings
from headscope.training.attention_change import AttentionChange
from headscope.training.dataset import TrainingSet
from headscope.training.environment import RunEnvironment
from headscope.training.initialisation import InitialModel, initial
from headscope.training.kept_steps import StepKeeper, spaced
from headscope.training.loop import TaskExamples, dev_outputs, train
from headscope.training.norms import NormRecorder
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
    """A task, an init and a seed.

    * `model`: the folder for the trained model, or None.
    * `kept`: the folder for weights at steps of the training, or None; `spacing`: which steps, see `spaced`.
    """

    row: TableRow
    init: str
    seed: int
    recipe: TrainingRecipe
    record: RunRecord
    model: Path | None
    kept: Path | None = None
    spacing: str = ""

    @property
    def all_steps(self) -> int:
        """Number of training steps."""
        return self.recipe.epochs * -(-self.row.task.training().n_examples // self.recipe.batch)

    @property
    def steps(self) -> int:
        """Number of training steps still to do; 0 for a completed run and without training."""
        if self.init == "pretrained" or self.record.completed():
            return 0
        return self.all_steps

    def open(self, environment: RunEnvironment, on_notice: Callable[[str], None]) -> None:
        """Begin or continue the run; see `RunRecord.open`."""
        self.record.open(self.settings(environment), on_notice)

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine the numbers of the run."""
        task = self.row.task
        train = task.training() if self.init != "pretrained" else None
        return (
            {
                "model": environment.sha256,
                "task": task.name,
                "init": self.init,
                "seed": self.seed,
                "train": f"{train.n_examples} examples of {train.sha256}" if train else "none",
                "dev": f"{task.dev.n_examples} examples of {task.dev.sha256}",
            }
            | self.recipe.as_settings()
            | ({"keep_steps": self.spacing} if self.kept else {})
        )

    def result(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        """The outputs of the open run, which is done unless it was completed before."""
        trained = self.record.completed() or self._run(environment, replace(settings, seed=self.seed))
        if self.model:
            self.record.move_model(self.model)
        return trained

    def _run(self, environment: RunEnvironment, settings: Settings) -> TrainedOutputs:
        start = self._initial(environment)
        if self.init != "pretrained":
            return train(
                start, self.row.task, self.row.examples, self.recipe, settings, self.record,
                save=self.model is not None, callbacks=self._callbacks(start, environment, settings),
            )  # fmt: skip
        outputs = dev_outputs(start.model, self.row.outputs, settings)
        trained = TrainedOutputs(outputs, outputs[None][:0], np.zeros(0, dtype=np.float32))
        self.record.complete(trained)
        return trained

    def _callbacks(self, start: InitialModel, environment: RunEnvironment, settings: Settings) -> list[TrainerCallback]:
        """What is recorded of the training: lengths of gradients and updates, steps, and the change of attention."""
        callbacks: list[TrainerCallback] = [NormRecorder(start.network)]
        if self.kept:
            callbacks.append(StepKeeper(self.kept, start.model, spaced(self.spacing, self.all_steps)))
        if self.init != "frozen":
            before = partial(self._initial, environment)
            callbacks.append(AttentionChange(before, start, self.row.task.dev, settings, self.row.max_tokens))
        return callbacks

    def _initial(self, environment: RunEnvironment) -> InitialModel:
        """The model before the training; each time another one with the same weights."""
        task, remote_code = self.row.task, environment.remote_code
        start = initial(environment.checkpoint, task, self.init, self.seed, remote_code=remote_code)
        nn.Module.to(start.network, environment.device)
        return start


def runs(
    rows: list[TableRow],
    recipes: Mapping[str, TrainingRecipe],
    seeds: range,
    directory: Path,
    models: Mapping[tuple[str, str], Path],
    spacing: str | None = None,
) -> Iterator[TrainingRun]:
    """The runs of each task, init of `recipes` and seed; the models and the steps of the first seed are kept.

    * `spacing`: which steps are kept, see `spaced`; None for none.
    """
    for row in rows:
        for init, recipe in recipes.items():
            for seed in seeds:
                record = RunRecord(directory / "runs" / f"{row.task.name}-{init}-{seed}")
                model = models[row.task.name, init] if seed == seeds[0] and init != "pretrained" else None
                kept = _steps(model) if model and spacing else None
                yield TrainingRun(row, init, seed, recipe, record, model, kept, spacing or "")


def _steps(model: Path) -> Path:
    """The folder of steps beside that of a model: `steps` beside `model`, `steps/NAME` beside `models/NAME`."""
    return model.with_name("steps") if model.name == "model" else model.parent.with_name("steps") / model.name
