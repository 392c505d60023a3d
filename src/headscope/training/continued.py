"""Continued training of a model that was fine-tuned on its task before."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from headscope.capture.attention_switch import fast
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.task_inputs import TaskInputs
from headscope.passes import Settings
from headscope.training.initialisation import InitialModel
from headscope.training.loop import TaskExamples, task_examples, train
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord

ContinuedTraining = Callable[[Model], Float[np.ndarray, "example output"]]


def continued_training(
    model: Model, dev: TaskInputs, recipe: TrainingRecipe, settings: Settings, directory: Path
) -> tuple[ContinuedTraining, int]:
    """Prepare the training of a model and of smaller copies of it, on the task's train split.

    Returns: a function that trains a model in place and returns its outputs for `dev`; its number of steps.

    Raises `HeadscopeError` if the task has no train split, or the weights are not float32.
    """
    if model.network.dtype != torch.float32:
        raise HeadscopeError(f"weights are trained in float32, not in {model.network.dtype}; leave --dtype out")
    examples = task_examples(model, dev, recipe.max_tokens)
    steps = recipe.epochs * -(-len(examples.train) // recipe.batch)
    return partial(_trained, examples=examples, recipe=recipe, settings=settings, directory=directory), steps


def _trained(
    model: Model, examples: TaskExamples, recipe: TrainingRecipe, settings: Settings, directory: Path
) -> Float[np.ndarray, "example output"]:
    start = InitialModel(model.network, model.tokenizer)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".training-") as scratch, fast(model.network):
        trained = train(start, examples, recipe, settings, RunRecord(Path(scratch)), save=False)
    model.network.eval()
    return trained.outputs
