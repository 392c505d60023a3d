"""The folder of a training run: its settings, its checkpoints, what it answered after each epoch, its end.

Whatever is there is whole: each file or folder is written beside its place and then renamed. A run that was
killed goes on from its last checkpoint, one that ended is not run again.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from safetensors.numpy import load_file, save_file

from headscope.errors import HeadscopeError
from headscope.files import remove, replace_folder, replacing, write_atomically, writing


@dataclass(frozen=True)
class Trained:
    """What a run came to.

    * `outputs`: what the kept model answers to the dev examples.
    * `epoch_outputs`: what the model answered after each epoch.
    * `train_loss`: of each step.
    * `cut`: how many training examples were longer than the recipe allows.
    """

    outputs: Float[np.ndarray, "example output"]
    epoch_outputs: Float[np.ndarray, "epoch example output"]
    train_loss: Float[np.ndarray, " step"]
    cut: Int[np.ndarray, ""] = field(default_factory=lambda: np.zeros((), dtype=np.int64))


@dataclass(frozen=True)
class Journal:
    """The folder of a run."""

    folder: Path

    def open(self, settings: dict[str, Any]) -> None:
        """Begin the run, or go on with it; what a killed run was just writing is removed.

        Raises `HeadscopeError` if the folder has a run with other settings.
        """
        for unfinished in [
            *self.folder.glob("checkpoint-*"),
            *self.folder.glob(".*.new*"),
            *self.folder.glob(".*.old"),
        ]:
            remove(unfinished)
        path, settings = self.folder / "settings.json", json.loads(json.dumps(settings))
        if path.is_file():
            before = json.loads(path.read_text(encoding="utf-8"))
            if before != settings:
                name = next(key for key in settings | before if settings.get(key) != before.get(key))
                raise HeadscopeError(
                    f"folder '{self.folder}' holds a run with {name} {before.get(name)}, asked is "
                    f"{settings.get(name)}; choose another folder with -o, or remove this one"
                )
            return
        write_atomically(path, json.dumps(settings, indent=1))

    @property
    def model(self) -> Path:
        """Where the kept model is while the run goes on."""
        return self.folder / "model"

    def ended(self) -> Trained | None:
        """What the run came to, if it has ended."""
        path = self.folder / "run.safetensors"
        return Trained(**load_file(path)) if path.is_file() else None

    def end(self, trained: Trained) -> None:
        """Keep what the run came to; its checkpoints are removed."""
        self._write("run", vars(trained))
        for path in [*self.folder.glob("epoch-*"), *self.folder.glob("step-*")]:
            remove(path)

    def answered(self, epoch: int) -> Float[np.ndarray, "example output"]:
        """What the model answered after an epoch."""
        return load_file(self.folder / f"epoch-{epoch}.safetensors")["outputs"]

    def answer(self, epoch: int, outputs: Float[np.ndarray, "example output"]) -> None:
        """Keep what the model answers after an epoch."""
        self._write(f"epoch-{epoch}", {"outputs": outputs})

    def checkpoint(self) -> Path | None:
        """The last whole checkpoint."""
        found = sorted(self.folder.glob("step-*"), key=_step)
        return found[-1] if found else None

    def checkpointed(self, step: int) -> None:
        """A checkpoint has been written to the end: from now on it is the last."""
        last = self.folder / f"step-{step}"
        with writing(last, resumable=True):
            replace_folder(self.folder / f"checkpoint-{step}", last)
        for folder in self.folder.glob("step-*"):
            if folder != last:
                remove(folder)

    def _write(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        path = self.folder / f"{name}.safetensors"
        with replacing(path, resumable=True) as scratch:
            save_file({key: np.array(array, order="C") for key, array in arrays.items()}, scratch)


def _step(folder: Path) -> int:
    return int(folder.name.partition("-")[2])
