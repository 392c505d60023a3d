"""The folder of a training run: settings, checkpoints, outputs after each epoch, and the final outputs.

Files and folders are written beside their place and then renamed, so that each is complete, and their digests are
kept. A killed run continues from its last checkpoint; a completed run is not repeated; a damaged one starts anew.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any, get_type_hints

import numpy as np
from jaxtyping import Float, Int, jaxtyped
from safetensors.numpy import load_file, save_file

from headscope.errors import HeadscopeError
from headscope.storage import hashes
from headscope.storage.files import new_folder, remove, replace_folder, replacing, writing

STEP = re.compile(r"step-\d{1,12}")
ONE_FOLDER = "with --engine ray all machines need the same folder for results (-o), such as one on NFS"


def _empty(dims: int) -> np.ndarray:
    return np.zeros((0,) * dims, dtype=np.float32)


@dataclass(frozen=True)
class TrainedOutputs:
    """The outputs of a completed run.

    * `outputs`: outputs of the kept model for the dev examples.
    * `epoch_outputs`: dev outputs after each epoch.
    * `train_loss`: loss of each step.
    * `cut`: number of shortened training examples.
    * `layer_norms`, `head_norms`: lengths of gradients, updates and weights, see `norms.KINDS`; empty if not recorded.
    * `attention_change`: 1 minus the cosine of attention after the last step and before the first; empty if unknown.
    * `trained`: number of trained parameters; `seconds`: of all steps; `memory`: bytes of the weights, of their
      gradients and Adam's moments, and of what the first batch keeps for its backward pass. 0: not known.
    """

    outputs: Float[np.ndarray, "example output"]
    epoch_outputs: Float[np.ndarray, "epoch example output"]
    train_loss: Float[np.ndarray, " step"]
    cut: Int[np.ndarray, ""] = field(default_factory=lambda: np.zeros((), dtype=np.int64))
    layer_norms: Float[np.ndarray, "kind record layer"] = field(default_factory=lambda: _empty(3))
    head_norms: Float[np.ndarray, "kind record layer head"] = field(default_factory=lambda: _empty(4))
    attention_change: Float[np.ndarray, " changed_layer"] = field(default_factory=lambda: _empty(1))
    trained: Int[np.ndarray, ""] = field(default_factory=lambda: np.zeros((), dtype=np.int64))
    memory: Int[np.ndarray, ""] = field(default_factory=lambda: np.zeros((), dtype=np.int64))
    seconds: Float[np.ndarray, ""] = field(default_factory=lambda: np.zeros(()))


@dataclass(frozen=True)
class RunRecord:
    """The folder of a training run."""

    folder: Path

    def open(self, settings: dict[str, Any], on_notice: Callable[[str], None] = lambda line: None) -> None:
        """Begin or continue the run, and remove unfinished files of a killed one.

        * `on_notice`: called with one line if a finished file is damaged, and so the run starts anew.

        Raises `HeadscopeError` if the folder holds a run with other settings.
        """
        self.remove_unfinished()
        if damaged := hashes.damaged(self._finished()):
            on_notice(f"'{damaged}' is damaged; the training starts again")
            for finished in [*self._finished(), self.folder / hashes.FILE]:
                remove(finished)
        path, settings = self.folder / "settings.json", json.loads(json.dumps(settings))
        if path.is_file():
            with refusing_damaged(path):
                before = dict(json.loads(path.read_text(encoding="utf-8")))
            if changed := hashes.difference(before, settings):
                raise HeadscopeError(
                    f"folder '{self.folder}' holds a run with {changed}; choose another folder with -o, or remove "
                    "this one"
                )
            return
        with self._replacing("settings.json") as scratch:
            scratch.write_text(json.dumps(settings, indent=1), encoding="utf-8")

    def remove_unfinished(self) -> None:
        """Remove unfinished files of a killed run."""
        for pattern in ("checkpoint-*", ".*.new*", ".*.old"):
            for unfinished in self.folder.glob(pattern):
                remove(unfinished)

    def refuse_other(self, settings: dict[str, Any]) -> None:
        """Raise `HeadscopeError` unless another process has opened this run, with the same settings, in this folder."""
        path = self.folder / "settings.json"
        if not path.is_file():
            raise HeadscopeError(f"'{path}' is missing here; {ONE_FOLDER}")
        with refusing_damaged(path):
            before = dict(json.loads(path.read_text(encoding="utf-8")))
        if changed := hashes.difference(before, json.loads(json.dumps(settings))):
            raise HeadscopeError(f"'{path}' was begun with {changed}; all machines need the same files and versions")

    def refuse_missing(self) -> None:
        """Raise `HeadscopeError` if the outputs of a run that another process has completed are not in this folder."""
        names = os.listdir(self.folder)  # on NFS, a file that was missing before is seen once its folder is listed
        if "run.safetensors" not in names:
            raise HeadscopeError(f"'{self.folder}' lacks what a worker has trained; {ONE_FOLDER}")

    @contextmanager
    def new_model(self) -> Iterator[Path]:
        """A folder to write the model into; at the end of the context it is the kept model."""
        with new_folder(self.folder / "model", resumable=True) as folder:
            yield folder
            hashes.add_digest(folder, self.folder / "model")

    def move_model(self, target: Path) -> None:
        """Move the kept model, if there is one, to its place after the run."""
        if (self.folder / "model").is_dir():
            with writing(target, resumable=True):
                replace_folder(self.folder / "model", target)

    def completed(self) -> TrainedOutputs | None:
        """The outputs of a completed run, else None. Raises `HeadscopeError` if they are damaged."""
        path = self.folder / "run.safetensors"
        with refusing_damaged(path):
            return _checked(TrainedOutputs(**load_file(path))) if path.is_file() else None

    def complete(self, trained: TrainedOutputs) -> None:
        """Save the final outputs; remove the checkpoints and the leftovers of an earlier training."""
        self._write("run", vars(trained))
        for path in [*self.folder.glob("epoch-*"), *self.folder.glob("step-*"), *self.folder.glob("before")]:
            remove(path)

    def epoch_outputs(self, epoch: int) -> Float[np.ndarray, "example output"]:
        """The dev outputs after an epoch. Raises `HeadscopeError` if they are damaged."""
        path = self.folder / f"epoch-{epoch}.safetensors"
        with refusing_damaged(path):
            return load_file(path)["outputs"]

    def has_epoch(self, epoch: int) -> bool:
        """Whether the dev outputs after an epoch are there."""
        return (self.folder / f"epoch-{epoch}.safetensors").is_file()

    def save_heads(self, numbers: Mapping[str, Float[np.ndarray, "..."]]) -> None:
        """Save numbers of the heads of the kept model."""
        self._write("heads", dict(numbers))

    def heads(self) -> dict[str, Float[np.ndarray, "..."]]:
        """The numbers of the heads of the kept model; empty where none were saved, an error where they are damaged."""
        path = self.folder / "heads.safetensors"
        with refusing_damaged(path):
            return load_file(path) if path.is_file() else {}

    def save_outputs(self, epoch: int, outputs: Float[np.ndarray, "example output"]) -> None:
        """Save the dev outputs after an epoch."""
        self._write(f"epoch-{epoch}", {"outputs": outputs})

    def checkpoint(self) -> Path | None:
        """The last complete checkpoint, or None."""
        steps = [path for path in self.folder.glob("step-*") if STEP.fullmatch(path.name)]
        return max(steps, key=lambda path: int(path.name.partition("-")[2]), default=None)

    def keep_checkpoint(self, step: int) -> None:
        """Move the complete checkpoint of a step to its place and remove the others."""
        last = self.folder / f"step-{step}"
        written = self.folder / f"checkpoint-{step}"
        with writing(last, resumable=True):
            hashes.add_digest(written, last)
            replace_folder(written, last)
        for folder in self.folder.glob("step-*"):
            if folder != last:
                remove(folder)

    def _write(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        with self._replacing(f"{name}.safetensors") as scratch:
            save_file({key: np.array(array, order="C") for key, array in arrays.items()}, scratch)

    @contextmanager
    def _replacing(self, name: str) -> Iterator[Path]:
        """A place to write a file of the run to; at the end of the context its digest is kept and it is renamed."""
        with replacing(self.folder / name, resumable=True) as scratch:
            yield scratch
            hashes.add_digest(scratch, self.folder / name)

    def _finished(self) -> list[Path]:
        """All files and folders of the run that are finished."""
        names = ("settings.json", "run.safetensors", "heads.safetensors", "epoch-*.safetensors", "step-*", "model")
        return [path for name in names for path in self.folder.glob(name)]


def _checked(trained: TrainedOutputs) -> TrainedOutputs:
    with jaxtyped("context"):  # an axis has one size in all arrays
        for name, kind in get_type_hints(TrainedOutputs).items():
            if not isinstance(getattr(trained, name), kind):
                raise ValueError(f"'{name}' has another type or size")
    return trained


@contextmanager
def refusing_damaged(path: Path) -> Iterator[None]:
    """Within this context, in which a file or folder of a run is read, any error becomes a `HeadscopeError`."""
    try:
        yield
    except Exception as error:  # safetensors, torch and transformers raise anything here
        reason = shorten(str(error).strip() or type(error).__name__, 160, placeholder=" ...")
        raise HeadscopeError(f"'{path}' is damaged ({reason}); remove it, and start the same command again") from error
