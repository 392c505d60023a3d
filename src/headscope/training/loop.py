"""Train a network on a task and keep its best or last epoch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from transformers import PreTrainedModel, TrainerCallback

from headscope.capture.transformers_logging import quiet
from headscope.corpora.tasks import LOWER_IS_BETTER, score
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.pruned_folder import write
from headscope.outputs.outputs import answers, logits, masked_outputs, task_outputs
from headscope.outputs.task_inputs import TaskInputs
from headscope.passes import Settings
from headscope.training.dataset import TrainingInputs, training_set
from headscope.training.initialisation import InitialModel
from headscope.training.recipe import TrainingRecipe, layer_rates
from headscope.training.recorders import attention_change, recorded, state_bytes, trained_weights
from headscope.training.run_record import RunRecord, TrainedOutputs, refusing_damaged
from headscope.training.trainer import EpochRecorder, SilentTrainer, arguments

DevOutputs = Callable[[Model, Settings], Float[np.ndarray, "example output"]]


class TrainingExamples(Protocol):
    """Training inputs, dev targets, the number of shortened training examples, and the outputs for dev.

    * `metric`: by which the best epoch is kept.
    """

    @property
    def train(self) -> TrainingInputs:
        """The training inputs."""
        ...

    @property
    def targets(self) -> Float[np.ndarray, " example"]:
        """The targets of dev, as the task's metrics read them."""
        ...

    @property
    def metric(self) -> str: ...

    @property
    def cut(self) -> int:
        """The number of shortened training examples."""
        ...

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example output"]:
        """Outputs of a model for the dev inputs."""
        ...


@dataclass(frozen=True)
class TaskExamples:
    """Training set, dev inputs and dev targets of a task; `cut` counts the shortened training examples."""

    train: TrainingInputs
    dev: TaskInputs
    targets: Float[np.ndarray, " example"]
    cut: int = 0

    @property
    def metric(self) -> str:
        """The main metric of the task."""
        return self.dev.task.metrics[0]

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example output"]:
        """See `outputs_for`."""
        return outputs_for(self.dev, model, settings)


def outputs_for(dev: TaskInputs, model: Model, settings: Settings) -> Float[np.ndarray, "example output"]:
    """Outputs of a model for the inputs of a task: logits, finite or not, or the losses of words."""
    if dev.task.kind == "words":
        return task_outputs(replace(dev, model=model), settings)
    if dev.task.kind == "span":
        return answers(dev, model, settings)
    return dev.by_example(logits(model, dev.inputs, settings))


def task_examples(model: Model, dev: TaskInputs, max_tokens: int) -> TaskExamples:
    """The training set of a task beside its dev inputs; see `training_set`."""
    train, cut = training_set(model, dev.task, max_tokens)
    return TaskExamples(train, dev, dev.task.targets(dev.task.dev), cut)


@dataclass(frozen=True)
class MaskedExamples:
    """Training inputs with new masks in each epoch, and dev inputs with fixed ones and the pieces under them."""

    train: TrainingInputs
    dev: list[Encoded]
    pieces: list[Int[np.ndarray, " token"]]
    cut: int = 0
    metric: str = "loss"

    @property
    def targets(self) -> Float[np.ndarray, " example"]:
        """Zeros: the outputs hold the losses."""
        return np.zeros(len(self.dev))

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example 3"]:
        """Summed loss, number of masked tokens and number of hits of each dev input."""
        return masked_outputs(model, self.dev, self.pieces, settings)


@dataclass(frozen=True)
class Epochs:
    """What happens after epochs, and beside the steps: a pause, a call for a network that is kept, other callbacks."""

    until: int | None = None
    on_kept: Callable[[], None] = lambda: None
    callbacks: Sequence[TrainerCallback] = ()


class Paused(Exception):
    """A training has stopped after an epoch, and can resume from its checkpoint."""


def train(
    initial: InitialModel,
    examples: TrainingExamples,
    recipe: TrainingRecipe,
    settings: Settings,
    record: RunRecord,
    *,
    save: bool = True,
    epochs: Epochs | None = None,
) -> TrainedOutputs:
    """Train a network in place, from its last checkpoint if there is one.

    A run that was killed and resumed on the same machine ends with the same weights, to the bit.

    * `initial`: the network and its tokenizer; training stays on the network's device.
    * `settings`: the seed, the batch size for dev, and `progress`, called after each step.
    * `record`: the folder of the run.
    * `save`: keep the model of the best or last epoch in the run's folder.
    * `epochs`: where to pause, what to do after epochs, and what else is done in the training.

    Raises `Paused` after the epoch where to pause, unless it is the last.

    Raises `HeadscopeError` if the loss is not finite, the disk is full, or the device cannot be used for training.
    """
    epochs = epochs or Epochs()
    network, keep = initial.network, partial(kept_epoch, record, examples, recipe)

    def epoch_done(epoch: int) -> None:
        if keep(epoch) == epoch:
            epochs.on_kept()
            if save and initial.ordinary:
                with record.new_model() as folder:
                    write(replace(initial.model, network=initial.ordinary(network)), folder)

    with torch.random.fork_rng(), quiet():
        training_arguments = arguments(recipe, settings.seed, record.folder, network.device)
        training_inputs = initial.training_set(examples.train)
        rates = layer_rates(network, recipe) | dict(initial.rates)
        trainer = SilentTrainer(network, training_arguments, training_inputs, initial.pad, rates)
        compute = partial(dev_outputs, initial.model, examples.outputs, settings)
        recorder = EpochRecorder(record, compute, epoch_done, settings.on_progress, epochs.until)
        for callback in (recorder, *epochs.callbacks):
            trainer.add_callback(callback)
        last = record.checkpoint()
        try:
            trainer.train(resume_from_checkpoint=str(last) if last else None)
        except Exception:
            if last is None or trainer.began:
                raise
            with refusing_damaged(last):
                raise
    vars(network).pop("forward", None)
    if trainer.state.global_step < trainer.state.max_steps:
        raise Paused
    history = [entry for entry in trainer.state.log_history if "loss" in entry]
    by_epoch = np.stack([record.epoch_outputs(epoch + 1) for epoch in range(recipe.epochs)])
    best = by_epoch[keep(recipe.epochs) - 1]
    trained = TrainedOutputs(
        best,
        by_epoch,
        np.array([entry["loss"] for entry in history], dtype=np.float32),
        np.array(examples.cut),
        trained=np.array(trained_weights(network)),
        memory=np.array(state_bytes(network) + int(sum(entry.get("bytes", 0) for entry in history))),
        seconds=np.array(initial.seconds + sum(entry.get("seconds", 0.0) for entry in history)),
        attention_change=attention_change(trainer.state.log_history),
        **recorded(trainer.state.log_history),
    )
    record.complete(trained)
    return trained


def kept_epoch(record: RunRecord, examples: TrainingExamples, recipe: TrainingRecipe, epochs: int) -> int:
    """Number of the epoch to keep of the first `epochs`, from 1: the last, or the earliest with the best score."""
    if recipe.keep == "last":
        return epochs
    metric, targets = examples.metric, examples.targets
    scores = [score(metric, record.epoch_outputs(epoch + 1), targets) for epoch in range(epochs)]
    return 1 + int(np.argmin(scores) if metric in LOWER_IS_BETTER else np.argmax(scores))


def dev_outputs(model: Model, outputs: DevOutputs, settings: Settings) -> Float[np.ndarray, "example output"]:
    """Outputs of a model for the dev inputs, in full precision even during training in mixed precision."""
    with plain_forward(model.network):
        return outputs(model, settings.quiet)


@contextmanager
def plain_forward(network: PreTrainedModel) -> Iterator[None]:
    """Within this context a network computes without dropout, and in full precision even while training in mixed."""
    mixed = vars(network).pop("forward", None)  # accelerate puts it over the network's own
    network.eval()
    try:
        yield
    finally:
        if mixed is not None:
            vars(network)["forward"] = mixed
