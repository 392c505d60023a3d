"""The start of a way to fine-tune: the files of the model, the device, the task and its options."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint, locate
from headscope.models.hub import verify
from headscope.models.loading import device_of
from headscope.passes import Settings
from headscope.training.initialisation import InitialModel, initial
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord


@dataclass(frozen=True)
class RunEnvironment:
    """The model's files, the folder and the device of training runs."""

    checkpoint: Checkpoint
    sha256: str
    directory: Path
    device: torch.device
    remote_code: bool = False


def run_environment(
    name: str,
    directory: Path,
    *,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    remote_code: bool = False,
) -> RunEnvironment:
    """Find the files of a model, and the device. Raises `HeadscopeError` without them, or if `dtype` is not float32."""
    if dtype != "float32":
        raise HeadscopeError(f"dtype '{dtype}': weights are trained in float32; use --precision bf16 for speed")
    checkpoint = locate(name, revision=revision, remote_code=remote_code)
    if checkpoint.file:
        raise HeadscopeError(
            f"model '{name}': a GGUF file is read, not trained; name the folder of the model that it was made from"
        )
    sha256 = checkpoint.sha256
    if name == "minilm":
        verify(sha256)
    return RunEnvironment(checkpoint, sha256, Path(directory), device_of(device), remote_code)


@dataclass(frozen=True, kw_only=True)
class WayOptions:
    """Options of single ways: layers that `last_layers` trains, the rank of `lora` and `adapters`, the first task."""

    top_layers: int = 2
    rank: int = 8
    first_task: Task | None = None


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a way to fine-tune begins with.

    * `seed`: of the new weights; that of `settings` is of the order of the examples, and of dropout.
    * `folder`: of the run, for what is trained before.
    """

    environment: RunEnvironment
    task: Task
    seed: int
    recipe: TrainingRecipe
    settings: Settings
    folder: Path
    options: WayOptions = field(default_factory=WayOptions)

    def initial(self, init: str = "finetuned", checkpoint: Checkpoint | None = None) -> InitialModel:
        """The model before training; see `training.initial`. By default of the checkpoint of the environment."""
        code = self.environment.remote_code
        return initial(checkpoint or self.environment.checkpoint, self.task, init, self.seed, remote_code=code)

    def record(self, name: str, train: Corpus) -> RunRecord:
        """The record of a training before, on another task, with the same recipe and seeds."""
        record = RunRecord(self.folder / "before")
        settled = {"task": name, "train": train.sha256, "seed": self.seed, "order": self.settings.seed}
        record.open(settled | self.recipe.as_settings(), self.settings.on_notice)
        return record

    def after(self, record: RunRecord) -> InitialModel:
        """The model before training with the encoder of a training before."""
        start, trained = self.initial(checkpoint=locate(str(record.folder / "model"))), record.completed()
        return replace(start, seconds=float(trained.seconds) if trained else 0.0)
