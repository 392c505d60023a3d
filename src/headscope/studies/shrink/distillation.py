"""Train a smaller model on the states and the outputs of the whole one (Hinton et al. 2015, Sanh et al. 2019)."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.capture.transformers_logging import quiet
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.pruned_checkpoint import class_of, made_like
from headscope.models.unsaved_buffers import fill_buffers
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs
from headscope.studies.shrink.losses import LossWeights, of_labels, of_outputs, of_relations, of_states
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
    * `weights`: of the losses; `labels`: the class number or the score of each input, if labels count.
    """

    inputs: list[Encoded]
    teacher: Model
    answers: ModelAnswers
    pieces: Tensor
    layers: tuple[int, ...]
    weights: LossWeights
    labels: Float[np.ndarray, " example"] | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> Encoded:
        return self.inputs[index]

    def collate(self, group: list[Encoded], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, each [example, token], and `labels`, [example], if they count."""
        batch = padded(group, pad)
        if self.labels is not None:
            batch["labels"] = torch.from_numpy(self.labels[[encoded.index for encoded in group]]).float()
        return batch

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The loss of a batch; dropout is off, since the states of the whole model have none."""
        network.eval()
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        of_teacher = inputs | {"input_ids": self.pieces.to(batch["input_ids"].device)[batch["input_ids"]]}
        with torch.no_grad():
            theirs = self.teacher.network(**of_teacher, output_hidden_states=True)
        ours, real = network(**inputs, output_hidden_states=True), batch["attention_mask"].bool()
        terms = self._terms(ours, theirs, real, batch.get("labels"))
        weights = asdict(self.weights)
        return torch.stack([weights[name] * term() for name, term in terms.items() if weights[name]]).sum()

    def _terms(self, ours: Any, theirs: Any, real: Tensor, labels: Tensor | None) -> dict[str, Callable[[], Tensor]]:
        """The losses by name; only those that count are computed."""
        states, wanted = ours.hidden_states, theirs.hidden_states
        # What leaves a kept layer is compared with what enters the next kept one in the whole model.
        entered = [*self.layers[1:], len(wanted) - 1]
        classes = self.answers.task is not None and self.answers.task.kind == "classification"
        one, other = (self._outputs(of_model, real) for of_model in (ours, theirs))
        heads = max(self.teacher.capture.heads)
        return {
            "states": lambda: of_states(states[-len(entered) :], [wanted[layer] for layer in entered], real),
            "outputs": lambda: of_outputs(one, other, classes=classes),
            "relations": lambda: of_relations(states[-1], wanted[-1], real, heads),
            "labels": lambda: of_labels(one, cast("Tensor", labels), classes=classes),
        }

    def _outputs(self, of_model: Any, real: Tensor) -> Tensor:
        """The outputs of the task head, or embeddings."""
        if self.answers.task is not None:
            return of_model.logits
        return self.answers.embedding(of_model.hidden_states[-1], real)


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
    options = {"seed": settings.seed, "layers": list(examples.train.layers), "losses": asdict(examples.train.weights)}
    record.open(recipe.as_settings() | options, settings.on_notice)
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
        fill_buffers(network, model.name)
    network.__class__ = type(model.network)
    network.config._name_or_path = network.name_or_path = model.network.name_or_path
    return replace(model, network=network.to(model.device), sha256="")


def copied(model: Model) -> Any:
    """A copy of a model's network."""
    network: Any = made_like(model.network)
    network.load_state_dict(model.network.state_dict())
    return network.to(model.device)
