"""What a way to fine-tune begins with."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.models.checkpoint import Checkpoint, locate
from headscope.passes import Settings
from headscope.training.environment import RunEnvironment
from headscope.training.initialisation import InitialModel, initial
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord


@dataclass(frozen=True, kw_only=True)
class WayOptions:
    """Options of single ways.

    * `top_layers`: how many layers `last_layers` trains.
    * `rank`: of the updates of `lora`; the width of `adapters`.
    * `first_task`: the task of the first stage of `two_stages`.
    """

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
