"""Train a network on a task: the loop, and which epoch's model is kept."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float

from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoded import Encoded
from headscope.engine import Settings
from headscope.engine.outputs import outputs
from headscope.files import new_folder
from headscope.models import Model
from headscope.tasks import LOWER_IS_BETTER, Task, score
from headscope.training.callbacks import Keeper
from headscope.training.dataset import Labelled
from headscope.training.initialisation import Initial
from headscope.training.recipe import Recipe
from headscope.training.run_record import Journal, Trained
from headscope.training.trainer import SilentTrainer, arguments


@dataclass(frozen=True)
class Examples:
    """What a task trains on and what it is scored on; `cut`: how many training examples were too long."""

    train: Labelled
    dev: list[Encoded]
    targets: Float[np.ndarray, " example"]
    cut: int = 0


def train(
    initial: Initial,
    task: Task,
    examples: Examples,
    recipe: Recipe,
    settings: Settings,
    journal: Journal,
    *,
    save: bool = True,
) -> Trained:
    """Train a network in place and where it is, from its last checkpoint if it has one.

    * `settings`: the seed, and `progress`, which is told each step.
    * `save`: keep the model of the best or last epoch in the journal's folder.

    A run that was killed ends, on the same machine, with the weights that it would have had, to the bit.

    Raises `HeadscopeError` if the loss is no finite number, the disk is full, or training cannot be done on
    the network's device.
    """
    network, keep = initial.network, partial(kept, journal, task, examples.targets, recipe)

    def epoch_done(epoch: int) -> None:
        if save and keep(epoch) == epoch:
            with new_folder(journal.model, resumable=True) as folder:
                network.save_pretrained(folder)
                initial.tokenizer.save_pretrained(folder)

    with torch.random.fork_rng(), quiet():
        made = arguments(recipe, settings.seed, journal.folder, network.device)
        trainer = SilentTrainer(network, made, examples.train, initial.pad)
        answer = partial(answers, initial.model, examples.dev, settings)
        trainer.add_callback(Keeper(journal, answer, epoch_done, settings.on_progress))
        last = journal.checkpoint()
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    vars(network).pop("forward", None)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    answered = np.stack([journal.answered(epoch + 1) for epoch in range(recipe.epochs)])
    best = answered[keep(recipe.epochs) - 1]
    trained = Trained(best, answered, np.array(losses, dtype=np.float32), np.array(examples.cut))
    journal.end(trained)
    return trained


def kept(journal: Journal, task: Task, targets: np.ndarray, recipe: Recipe, epochs: int) -> int:
    """Which of the epochs so far is kept, from 1: the last, or the first of those with the best score."""
    if recipe.keep == "last":
        return epochs
    metric = task.metrics[0]
    scores = [score(metric, journal.answered(epoch + 1), targets) for epoch in range(epochs)]
    return 1 + int(np.argmin(scores) if metric in LOWER_IS_BETTER else np.argmax(scores))


def answers(model: Model, dev: list[Encoded], settings: Settings) -> Float[np.ndarray, "example output"]:
    """What a model answers to the dev inputs, in full precision also while it is trained in a mixed one."""
    mixed = vars(model.network).pop("forward", None)  # accelerate puts it over the network's own
    model.network.eval()
    try:
        return outputs(model, dev, replace(settings, on_progress=lambda done: None))
    finally:
        if mixed is not None:
            vars(model.network)["forward"] = mixed
