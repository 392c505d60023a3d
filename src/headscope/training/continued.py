"""Train a model that has learned its task further, in place."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from headscope.capture.fused_attention import fast
from headscope.encoding.encoded import Encoded
from headscope.engine import Settings
from headscope.engine.outputs import inputs_of
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.tasks import Task
from headscope.training.dataset import Labelled
from headscope.training.initialisation import Initial
from headscope.training.loop import Examples, train
from headscope.training.recipe import Recipe
from headscope.training.run_record import Journal

Further = Callable[[Model], Float[np.ndarray, "example output"]]


def further(
    model: Model, task: Task, dev: list[Encoded], recipe: Recipe, settings: Settings, directory: Path
) -> tuple[Further, int]:
    """A function that trains a model of this shape and gives what it then answers to the dev inputs; and its steps.

    * `directory`: where checkpoints are, as long as a training goes on.

    Raises `HeadscopeError` if the task has no train split, or the weights are not float32.
    """
    if model.network.dtype != torch.float32:
        raise HeadscopeError(f"weights are trained in float32, not in {model.network.dtype}; leave --dtype out")
    corpus = task.training()
    inputs, cut = inputs_of(model, corpus, recipe.max_tokens)
    labelled = Labelled(inputs, task.targets(corpus), task.kind == "regression")
    examples = Examples(labelled, dev, task.targets(task.dev), sum(cut.values()))
    steps = recipe.epochs * -(-len(inputs) // recipe.batch)
    return partial(_trained, task=task, examples=examples, recipe=recipe, settings=settings, directory=directory), steps


def _trained(
    model: Model, task: Task, examples: Examples, recipe: Recipe, settings: Settings, directory: Path
) -> Float[np.ndarray, "example output"]:
    start = Initial(model.network, model.tokenizer)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".training-") as scratch, fast(model.network):
        trained = train(start, task, examples, recipe, settings, Journal(Path(scratch)), save=False)
    model.network.eval()
    return trained.outputs
