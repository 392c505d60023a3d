"""The steps of a training: weights that are kept at chosen ones, and the models of steps, one after the other.

The differences to the model before are kept in bfloat16: two bytes a trained weight and step, with an error of at most
0.4% of each difference. Whole weights in half precision would take as much, and lose the small changes of the first
steps.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel, TrainerCallback

from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.models.checkpoint import Checkpoint
from headscope.models.pruned_folder import write
from headscope.models.step_folder import START, STEPS, located, steps_folder
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

    def __init__(
        self,
        folder: Path,
        model: Model,
        steps: Iterable[int],
        ordinary: Callable[[PreTrainedModel], PreTrainedModel] | None = None,
    ):
        """`folder` gets the model as it is now, before the training, as an ordinary Hugging Face folder.

        * `ordinary`: makes a network of it that transformers loads; of other weights no step is kept.

        Raises `HeadscopeError` if the steps do not fit on the disk.
        """
        self.folder, self.network, self.steps = folder, model.network, frozenset(steps)
        first = replace(model, network=ordinary(model.network)) if ordinary else model
        self.start = {name: weight.detach().to("cpu", copy=True) for name, weight in trained(first.network)}
        if not (folder / START).is_dir():
            with new_folder(folder / START, resumable=True) as scratch:
                write(first, scratch)
                add_digest(scratch, folder / START)
        number = sum(not _path(folder, step).exists() for step in self.steps)
        size = 2 * number * sum(weight.numel() for weight in self.start.values())
        refuse_full(folder, size, f"{number:,} steps take", "keep fewer by --keep-steps, or ")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep the step if it is a chosen one; after a kill, one that was kept is written again with the same bits."""
        if state.global_step in self.steps:
            now = dict(trained(self.network))
            differences = {name: (now[name].detach().cpu() - before).bfloat16() for name, before in self.start.items()}
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


Loading = Mapping[str, Any]


@dataclass(frozen=True)
class StepModels:
    """The model before a training, and how those of its steps are opened.

    * `title`: what a page calls the training.
    * `numbers`: of all steps, 0 for the start; `names`: of their models.
    * `hashes`: of the weights of the steps after the start, by which a run that goes on knows them.
    * `open`: the model of a step by its index, from 1; it may change the one that was opened before.
    """

    start: Model
    title: str
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    hashes: tuple[str, ...]
    open: Callable[[int], Model]


def step_models(sources: Sequence[str | Model], loading: Loading, *, head: bool) -> StepModels:
    """The models of a training: of the folder of a fine-tuning that kept steps, or of several models in their order.

    * `sources`: one folder; or names of models, `MODEL@REVISION` for a revision on the hub, and loaded models.
    * `loading`: `device`, `dtype`, `revision` and `remote_code`; the revision is that of names without their own.
    * `head`: keep task heads; the first of several models need not have one.

    Raises `HeadscopeError` if there is no such model, or there are no steps.
    """
    if len(sources) == 1 and isinstance(sources[0], str):
        if not (folder := steps_folder(sources[0])):
            raise HeadscopeError(
                f"'{sources[0]}' holds no kept steps; train with finetune --keep-steps 8, or name several models"
            )
        return _kept(folder, loading)
    if len(sources) < 2:
        raise HeadscopeError("a film has two steps or more; name several models, the start first")
    return _of_models(sources, loading, head)


def _kept(folder: Path, loading: Loading) -> StepModels:
    kept = KeptSteps(folder)
    options = {**loading, "revision": None}
    start, moving = (load(str(kept.start), head=True, **options) for _ in range(2))
    steps = tuple(kept.paths)
    hashes = tuple(kept.sha256(step) for step in steps)

    def opened(index: int) -> Model:
        kept.put(moving, start, steps[index - 1])
        return replace(moving, name=str(kept.paths[steps[index - 1]]), sha256=hashes[index - 1])

    names = (str(kept.start), *(str(path) for path in kept.paths.values()))
    title = str(folder.parent if folder.name == STEPS else folder)
    return StepModels(start, title, (0, *steps), names, hashes, opened)


def _of_models(sources: Sequence[str | Model], loading: Loading, head: bool) -> StepModels:
    names = tuple(source.name if isinstance(source, Model) else source for source in sources)
    files = [source if isinstance(source, Model) else located(source, **loading) for source in sources]
    options = {name: loading[name] for name in ("device", "dtype", "remote_code") if name in loading}

    def opened(index: int) -> Model:
        file = files[index]
        return file if isinstance(file, Model) else load(file, head=head and (index > 0 or _has_head(file)), **options)

    hashes = tuple(file.sha256 for file in files[1:])
    return StepModels(opened(0), names[0], _numbers(names), names, hashes, opened)


def _has_head(checkpoint: Checkpoint) -> bool:
    return any("ForSequenceClassification" in str(kind) for kind in checkpoint.config.get("architectures") or ())


def _numbers(names: Sequence[str]) -> tuple[int, ...]:
    """The last number of each name but the first if they rise, as in `checkpoint-500`; else the place of each name.

    >>> _numbers(["bert", "out/checkpoint-100", "out/checkpoint-200"]), _numbers(["bert@step0", "bert@step9"])
    ((0, 100, 200), (0, 9))
    >>> _numbers(["a", "b", "c"])
    (0, 1, 2)
    """
    digits = [re.findall(r"\d{1,9}", re.split(r"[@/]", name.rstrip("/"))[-1]) for name in names[1:]]
    numbers = [int(numbers_of_name[-1]) for numbers_of_name in digits if numbers_of_name]
    rising = len(numbers) == len(digits) and all(
        before < after for before, after in zip([0, *numbers], numbers, strict=False)
    )
    return (0, *numbers) if rising else tuple(range(len(names)))
