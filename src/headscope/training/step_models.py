"""The models of a training, one after the other: of kept steps, of folders, and of revisions of a hub model."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.models.checkpoint import Checkpoint
from headscope.models.step_folder import STEPS, located, steps_folder
from headscope.training.kept_steps import KeptSteps

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
