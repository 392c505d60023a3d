"""Train a network on a task: the loop, and which epoch's model is kept."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from headscope.engine import Settings
from headscope.engine.outputs import inputs_of, outputs
from headscope.models import Model
from headscope.models.check import Capture
from headscope.models.encoded import Encoded
from headscope.models.quiet import quiet
from headscope.tasks import LOWER_IS_BETTER, Task, score
from headscope.training.disk import new_folder
from headscope.training.initial import Initial
from headscope.training.journal import Journal, Trained
from headscope.training.labelled import Labelled
from headscope.training.recipe import Recipe
from headscope.training.trainer import Answer, Keeper, SilentTrainer, arguments


def train(
    initial: Initial,
    task: Task,
    examples: tuple[Labelled, list[Encoded]],
    recipe: Recipe,
    settings: Settings,
    journal: Journal,
    *,
    device: torch.device,
    save: bool = True,
) -> Trained:
    """Train a network in place, from its last checkpoint if it has one.

    * `examples`: those to train on, and the dev inputs.
    * `settings`: the seed, and `progress`, which is told each step.
    * `save`: keep the model of the best or last epoch in the journal's folder.

    Raises `HeadscopeError` if the loss is no finite number, or the disk is full.
    """
    labelled, dev = examples
    network, pad = initial.network, initial.tokenizer.pad_token_id
    targets = task.targets(task.dev)

    def epoch_done(epoch: int, network: Any) -> None:
        if save and kept(journal, task, targets, recipe, epoch) == epoch:
            with new_folder(journal.model) as folder:
                network.save_pretrained(folder)
                initial.tokenizer.save_pretrained(folder)

    with torch.random.fork_rng(), quiet():
        made = arguments(recipe, settings.seed, journal.folder, device)
        trainer = SilentTrainer(network, made, labelled, pad)
        trainer.add_callback(Keeper(journal, answering(initial, dev, settings), epoch_done, settings.progress))
        last = journal.checkpoint()
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    answers = np.stack([journal.answered(epoch + 1) for epoch in range(recipe.epochs)])
    best = kept(journal, task, targets, recipe, recipe.epochs)
    trained = Trained(answers[best - 1], answers, np.array(losses, dtype=np.float32))
    journal.end(trained)
    return trained


def kept(journal: Journal, task: Task, targets: np.ndarray, recipe: Recipe, epochs: int) -> int:
    """Which of the epochs so far is kept, from 1: of equals the first."""
    if recipe.keep == "last":
        return epochs
    metric = task.metrics[0]
    scores = [score(metric, journal.answered(epoch + 1), targets) for epoch in range(epochs)]
    return 1 + int(np.argmin(scores) if metric in LOWER_IS_BETTER else np.argmax(scores))


def answering(initial: Initial, dev: list[Encoded], settings: Settings) -> Answer:
    """A function from a network to its answers to the dev inputs."""
    plain = replace(settings, progress=nothing)
    return lambda network: outputs(unchecked(network, initial), dev, plain)


def unchecked(network: PreTrainedModel, initial: Initial) -> Model:
    """A model for plain forward passes: how its attention could be captured does not matter."""
    return Model("", network, initial.tokenizer, Capture("", ()))


def labelled_inputs(initial: Initial, task: Task, recipe: Recipe) -> tuple[Labelled, Counter[str]]:
    """The training examples of a task, and how many were cut."""
    corpus = task.training()
    inputs, cut = inputs_of(unchecked(initial.network, initial), corpus, recipe.max_tokens)
    return Labelled(inputs, task.targets(corpus), task.kind == "regression"), cut


def dev_inputs(initial: Initial, task: Task, recipe: Recipe) -> tuple[list[Encoded], Counter[str]]:
    """The inputs that a task is scored on, and how many were cut."""
    return inputs_of(unchecked(initial.network, initial), task.dev, recipe.max_tokens)


nothing: Callable[[int], None] = lambda done: None  # noqa: E731
