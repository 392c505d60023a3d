"""Train a smaller model on the states and the outputs of the whole one (Hinton et al. 2015, Sanh et al. 2019)."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from headscope.capture.attention_switch import fast
from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.pruned_checkpoint import class_of
from headscope.models.unsaved_buffers import fill_buffers
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.scores import Outputs
from headscope.studies.size.shrink.texts import encode
from headscope.training.dataset import padded
from headscope.training.initialisation import InitialModel
from headscope.training.loop import Epochs, train
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord, TrainedOutputs

States = Float[Tensor, "example token width"]


@dataclass(frozen=True)
class DistillationSet:
    """Inputs of the smaller model, which learns from the whole model of the judge.

    * `pieces`: the id in the whole model's vocabulary of each piece of the smaller one's.
    * `layers`: the layers that the smaller model keeps; with none only the states after the last layer are compared.
    """

    inputs: list[Encoded]
    judge: Judge
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
        """The loss of a batch: of the states after each kept layer, and of the outputs.

        Dropout is off, since the states of the whole model have none.
        """
        network.eval()
        teacher_batch = batch | {"input_ids": self.pieces.to(batch["input_ids"].device)[batch["input_ids"]]}
        with torch.no_grad():
            theirs = self.judge.model.network(**teacher_batch, output_hidden_states=True)
        ours, real = network(**batch, output_hidden_states=True), batch["attention_mask"].bool()
        states, wanted = ours.hidden_states, theirs.hidden_states
        # What leaves a kept layer is compared with what enters the next kept one in the whole model.
        entered = [*self.layers[1:], len(wanted) - 1]
        first, second = (self.judge.learned(output, real) for output in (ours, theirs))
        loss_of_states = state_loss(states[-len(entered) :], [wanted[layer] for layer in entered], real)
        return loss_of_states + output_loss(first, second, classes=self.judge.classes)


@dataclass(frozen=True)
class DistilledExamples:
    """What `training.loop.train` trains on and keeps the best epoch by: the mean squared change of outputs.

    * `stopping`: inputs of the smaller model.
    """

    train: DistillationSet
    stopping: list[Encoded]
    cut: int = 0
    metric: str = "loss"

    @property
    def targets(self) -> Float[np.ndarray, " example"]:
        """Zeros: the outputs hold the losses."""
        return np.zeros(len(self.stopping))

    @cached_property
    def before(self) -> Outputs:
        """The outputs of the whole model."""
        return self.train.judge.outputs(self.train.judge.model, self.train.judge.stopping)

    @property
    def settings(self) -> Settings:
        """Those of the study."""
        return self.train.judge.settings

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example 2"]:
        """The squared change of each input, and its number, 1."""
        after = self.train.judge.outputs(model, self.stopping)
        squares = ((after - self.before) ** 2).sum(1)
        return np.stack([squares, np.ones_like(squares)], axis=1)


def examples_of(
    judge: Judge, smaller: Model, layers: tuple[int, ...], pieces: tuple[int, ...] | None
) -> DistilledExamples:
    """What a smaller model learns from, in its own pieces: the whole model's answers to the texts of the search.

    * `layers`, `pieces`: that it keeps; None for all pieces.
    """
    numbering = torch.tensor(pieces or range(judge.model.network.config.get_text_config().vocab_size))
    learned = DistillationSet(encode(smaller, judge.texts.training), judge, numbering, layers)
    return DistilledExamples(learned, encode(smaller, judge.texts.stopping))


def distilled(smaller: Model, examples: DistilledExamples, recipe: TrainingRecipe, folder: Path) -> Model:
    """Train a smaller model, and return that of the epoch that changes the outputs least, or the untrained one.

    A run that was killed goes on from its last checkpoint in `folder`.

    Raises `HeadscopeError` for weights that are not float32, or a loss that is not finite.
    """
    start, options = InitialModel(deepcopy(smaller.network), smaller.tokenizer), {"layers": list(examples.train.layers)}
    before = float(examples.outputs(smaller, examples.settings)[:, 0].mean())
    done = trained(start, examples, recipe, RunRecord(folder), options)
    return reloaded(smaller, folder / "model") if float(done.outputs[:, 0].mean()) < before else smaller


def trained(
    start: InitialModel,
    examples: DistilledExamples,
    recipe: TrainingRecipe,
    record: RunRecord,
    options: dict[str, Any],
    epochs: Epochs | None = None,
) -> TrainedOutputs:
    """Train on the whole model, or go on with the training of a folder; one that is complete is not repeated.

    * `options`: what the training depends on beside the recipe.

    Raises `HeadscopeError` for weights that are not float32, or a loss that is not finite.
    """
    if start.network.dtype != torch.float32:
        raise HeadscopeError(f"weights are trained in float32, not in {start.network.dtype}; leave --dtype out")
    settings = examples.settings
    record.open(recipe.as_settings() | {"seed": settings.seed} | options, settings.on_notice)
    if (done := record.completed()) is not None:
        settings.on_progress(recipe.epochs * -(-len(examples.train) // recipe.batch))
        return done
    with fast(start.network), fast(examples.train.judge.model.network):
        return train(start, examples, recipe, settings, record, epochs=epochs)


def reloaded(model: Model, folder: Path) -> Model:
    """A model with the weights of a folder, which a training has written."""
    with quiet():
        network: Any = class_of(model.network).from_pretrained(folder, local_files_only=True).eval()
        fill_buffers(network, model.name)
    network.__class__ = type(model.network)
    network.config._name_or_path = network.name_or_path = model.network.name_or_path
    return replace(model, network=network.to(model.device), sha256="")


def state_loss(ours: Sequence[States], theirs: Sequence[States], real: Bool[Tensor, "example token"]) -> Tensor:
    """The mean over states of the squared difference, by the mean square of the wanted ones (Sanh et al. 2019)."""
    losses = []
    for state, wanted in zip(ours, theirs, strict=True):
        difference = (state[real] - wanted[real]).square().mean()
        losses.append(difference / wanted[real].square().mean().clamp_min(1e-12))
    return torch.stack(losses).mean()


def output_loss(
    ours: Float[Tensor, "example output"], theirs: Float[Tensor, "example output"], *, classes: bool
) -> Tensor:
    """The squared difference of outputs by their spread; of classes with their divergence (Hinton et al. 2015).

    >>> output_loss(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]), classes=False)
    tensor(0.5000)
    """
    spread = (theirs - theirs.mean(0)).square().sum().clamp_min(1e-6)
    loss = (ours - theirs).square().sum() / spread
    if classes:
        first, second = (log_softmax(logits, -1) for logits in (ours, theirs))
        loss = loss + kl_div(first, second, log_target=True, reduction="batchmean")
    return loss
