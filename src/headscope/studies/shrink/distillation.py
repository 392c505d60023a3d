"""Train a smaller model on the states and the outputs of the whole one (Hinton et al. 2015, Sanh et al. 2019).

The loss is the squared difference of the hidden states after each kept layer, by their mean square, and the squared
change of the outputs, by their distance from the batch's mean; with a task also the divergence of the classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from headscope.capture.attention_switch import fast
from headscope.capture.transformers_logging import quiet
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.pruned_checkpoint import class_of, made_like
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs
from headscope.training.dataset import padded
from headscope.training.initialisation import InitialModel
from headscope.training.loop import train
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord


@dataclass(frozen=True)
class DistillationSet:
    """Inputs of the smaller model, and the whole model that it learns from.

    * `pieces`: the id in the whole model's vocabulary of each piece of the smaller one's.
    * `layers`: the layers that the smaller model keeps; with none only the states after the last layer are compared.
    """

    inputs: list[Encoded]
    teacher: Model
    answers: ModelAnswers
    pieces: Tensor
    layers: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> Encoded:
        return self.inputs[index]

    def collate(self, group: list[Encoded], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, each [example, token]."""
        return padded(group, pad)

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The loss of a batch; dropout is off, since the states of the whole model have none."""
        network.eval()
        of_teacher = batch | {"input_ids": self.pieces.to(batch["input_ids"].device)[batch["input_ids"]]}
        with torch.no_grad():
            theirs = self.teacher.network(**of_teacher, output_hidden_states=True)
        ours, real = network(**batch, output_hidden_states=True), batch["attention_mask"].bool()
        loss = self._of_states(ours.hidden_states, theirs.hidden_states, real)
        if self.answers.task is None:
            states = ours.hidden_states[-1], theirs.hidden_states[-1]
            one, other = (self.answers.embedding(of_model, real) for of_model in states)
            return loss + relative(one, other)
        loss = loss + relative(ours.logits, theirs.logits)
        if self.answers.task.kind == "classification":
            one, other = (log_softmax(logits, -1) for logits in (ours.logits, theirs.logits))
            loss = loss + kl_div(one, other, log_target=True, reduction="batchmean")
        return loss

    def _of_states(self, ours: Sequence[Tensor], theirs: Sequence[Tensor], real: Tensor) -> Tensor:
        """The mean over kept layers: what leaves each is compared with what enters the next kept one in the whole."""
        number = len(theirs) - 1
        entered = [*self.layers[1:], number]
        losses = []
        for state, layer in zip(ours[-len(entered) :], entered, strict=True):
            wanted = theirs[layer][real]
            losses.append((state[real] - wanted).square().mean() / wanted.square().mean().clamp_min(1e-12))
        return torch.stack(losses).mean()


def relative(ours: Float[Tensor, "example output"], theirs: Float[Tensor, "example output"]) -> Float[Tensor, ""]:
    """The squared difference by the squared distance from the mean of the batch.

    >>> relative(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]))
    tensor(0.5000)
    """
    spread = (theirs - theirs.mean(0)).square().sum().clamp_min(1e-6)
    return (ours - theirs).square().sum() / spread


@dataclass(frozen=True)
class DistilledExamples:
    """What `training.loop.train` trains on and keeps the best epoch by: the mean squared change of outputs.

    * `stopping`: inputs of the smaller model; `before`: the outputs of the whole model for them.
    """

    train: DistillationSet
    stopping: list[Encoded]
    before: Outputs
    cut: int = 0

    @property
    def targets(self) -> Float[np.ndarray, " example"]:
        """Zeros: the outputs hold the losses."""
        return np.zeros(len(self.stopping))

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example 2"]:
        """The squared change of each input, and its number, 1."""
        after = self.train.answers.of(model, self.stopping, settings)
        squares = ((after - self.before) ** 2).sum(1)
        return np.stack([squares, np.ones_like(squares)], axis=1)


def distilled(
    smaller: Model,
    examples: DistilledExamples,
    corpus: Corpus,
    recipe: TrainingRecipe,
    settings: Settings,
    folder: Path,
) -> Model:
    """Train a smaller model, and return that of the epoch that changes the outputs least, or the untrained one.

    A run that was killed goes on from its last checkpoint in `folder`.

    Raises `HeadscopeError` for weights that are not float32, or a loss that is not finite.
    """
    trainable(smaller)
    record = RunRecord(folder)
    record.open(
        recipe.as_settings() | {"seed": settings.seed, "layers": list(examples.train.layers)}, settings.on_notice
    )
    before = float(examples.outputs(smaller, settings)[:, 0].mean())
    done = record.completed()
    if done is None:
        task = Task(name="distillation", kind="masked", metrics=("loss",), dev=corpus)
        start = InitialModel(copied(smaller), smaller.tokenizer)
        with fast(start.network), fast(examples.train.teacher.network):
            done = train(start, task, examples, recipe, settings, record)
    else:
        settings.on_progress(recipe.epochs * -(-len(examples.train) // recipe.batch))
    if not float(done.outputs[:, 0].mean()) < before:
        return smaller
    return reloaded(smaller, folder / "model")


def trainable(model: Model) -> None:
    """Raise `HeadscopeError` for weights that are not float32."""
    if model.network.dtype != torch.float32:
        raise HeadscopeError(f"weights are trained in float32, not in {model.network.dtype}; leave --dtype out")


def reloaded(model: Model, folder: Path) -> Model:
    """A model with the weights of a folder, which a training has written."""
    with quiet():
        network: Any = class_of(model.network).from_pretrained(folder, local_files_only=True).eval()
    network.__class__ = type(model.network)
    network.config._name_or_path = network.name_or_path = model.network.name_or_path
    return replace(model, network=network.to(model.device), sha256="")


def copied(model: Model) -> Any:
    """A copy of a model's network."""
    network: Any = made_like(model.network)
    network.load_state_dict(model.network.state_dict())
    return network.to(model.device)
