"""Weights of a training at chosen steps: the model before it, and how far each step is from it.

The differences are kept in bfloat16: two bytes a trained weight and step, with an error of at most 0.4% of each
difference. Whole weights in half precision would take as much, and lose the small changes of the first steps.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import TrainerCallback

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.pruned_folder import write
from headscope.models.step_folder import START
from headscope.storage.files import new_folder, refuse_full, replacing
from headscope.storage.hashes import add_digest, damaged, sha256_of
from headscope.training.run_record import refusing_damaged

LOG = "log"
STEP = re.compile(r"step-(\d{1,12})\.safetensors")


def spaced(spacing: str, total: int) -> tuple[int, ...]:
    """The numbers of the steps to keep, of a training of `total` steps; the last is always one of them.

    * `spacing`: a number of steps, evenly spaced, or "log": the powers of two.

    Raises `HeadscopeError` for any other spacing.

    >>> spaced("4", 10), spaced("log", 10), spaced("9", 2)
    ((2, 5, 8, 10), (1, 2, 4, 8, 10), (1, 2))
    """
    if spacing == LOG:
        steps = {2**power for power in range(total.bit_length())} | {total}
    elif spacing.isdecimal() and 0 < int(spacing) < 10**6:
        steps = {round(total * part / int(spacing)) for part in range(1, int(spacing) + 1)} - {0}
    else:
        raise HeadscopeError(f"keep steps '{spacing}' is no number from 1 on, nor '{LOG}'; use e.g. 8")
    return tuple(sorted(step for step in steps if step <= total))


class StepKeeper(TrainerCallback):
    """Keeps the differences from the start after chosen steps of a training."""

    def __init__(self, folder: Path, model: Model, steps: Iterable[int]):
        """`folder` gets the model as it is now, before the training, as an ordinary Hugging Face folder.

        Raises `HeadscopeError` if the steps do not fit on the disk.
        """
        self.folder, self.network, self.steps = folder, model.network, frozenset(steps)
        self.start = {name: weight.detach().to("cpu", copy=True) for name, weight in trained(self.network)}
        if not (folder / START).is_dir():
            with new_folder(folder / START, resumable=True) as scratch:
                write(model, scratch)
                add_digest(scratch, folder / START)
        number = sum(not _path(folder, step).exists() for step in self.steps)
        size = 2 * number * sum(weight.numel() for weight in self.start.values())
        refuse_full(folder, size, f"{number:,} steps take", "keep fewer by --keep-steps, or ")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep the step if it is a chosen one; after a kill, one that was kept is written again with the same bits."""
        if state.global_step in self.steps:
            now = trained(self.network)
            differences = {name: (weight.detach().cpu() - self.start[name]).bfloat16() for name, weight in now}
            path = _path(self.folder, state.global_step)
            with replacing(path, resumable=True) as scratch:
                save_file(differences, scratch)
                add_digest(scratch, path)


def trained(network: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """The weights of a network that are trained, by name, each once."""
    return [(name, weight) for name, weight in network.named_parameters() if weight.requires_grad]


class KeptSteps:
    """The kept steps of a training.

    * `start`: the folder of the model before it; `paths`: the file of each step, in their order.

    Raises `HeadscopeError` if the folder has none, or one is damaged.
    """

    def __init__(self, folder: Path):
        paths = {int(match[1]): path for path in folder.glob("step-*") if (match := STEP.fullmatch(path.name))}
        self.start, self.paths = folder / START, dict(sorted(paths.items()))
        if not self.paths or not self.start.is_dir():
            raise HeadscopeError(f"folder '{folder}' holds no kept steps; train with finetune --keep-steps 8")
        if broken := damaged((self.start, *self.paths.values())):
            remedy = "train" if broken == self.start else "remove it, or train"
            raise HeadscopeError(f"'{broken}' is damaged; {remedy} again into another folder")
        first = next(iter(self.paths.values()))
        with refusing_damaged(first), safe_open(first, "pt") as file:
            self.names = set(file.keys())

    def sha256(self, step: int) -> str:
        """The hash of the differences of a step."""
        return sha256_of([self.paths[step]])

    def put(self, model: Model, start: Model, step: int) -> None:
        """Give a network the weights that the training had after a step; `start` is the same one, and stays as it is.

        Raises `HeadscopeError` if the file is damaged, or of another network.
        """
        weights, before = (dict(one.network.named_parameters()) for one in (model, start))
        with refusing_damaged(self.paths[step]), torch.no_grad():
            differences = load_file(self.paths[step])
            if wrong := sorted(differences.keys() ^ self.names):  # a missing one would be that of the step before
                raise ValueError(f"it has not the tensors of the other steps: {wrong[0]}")
            for name, difference in differences.items():
                if difference.shape != before[name].shape or difference.dtype != torch.bfloat16:
                    raise ValueError(f"{name} is {difference.dtype} of shape {tuple(difference.shape)}")
                weights[name].copy_(before[name] + difference.to(before[name].device))


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step}.safetensors"
