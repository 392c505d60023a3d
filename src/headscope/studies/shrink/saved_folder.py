"""The folder of a smaller model: written, and loaded again."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.models.pruned_folder import save
from headscope.storage.files import remove, replace_folder
from headscope.studies.shrink.eight_bit import FOLDER as ONNX

# Beside the folder `model`, in the folder of the result.
BFLOAT16 = "model-bfloat16"


def saved(model: Model, folder: Path, card: str = "", *, head: bool) -> Model:
    """Save a model and load it again, in the number format that it has.

    * `card`: Markdown for its card; `head`: whether it has the head of a task.

    Raises `HeadscopeError` if the folder cannot be written.
    """
    save(model, folder, card)
    dtype = str(model.network.dtype).removeprefix("torch.")
    masked = type(model.network).__name__.endswith("ForMaskedLM")
    return load(str(folder), head=head or masked, device=str(model.device), dtype=dtype)


def in_formats(
    smaller: Model, folder: Path, *, head: bool, eight_bit: bool, bfloat16: bool
) -> tuple[Model | None, Path | None]:
    """The model in bfloat16, as it loads from its folder, and the folder of its ONNX files, if they are asked for."""
    half = saved(in_bfloat16(smaller), folder / BFLOAT16, head=head) if bfloat16 else None
    return half, folder / ONNX if eight_bit else None


def written_folder(
    smaller: Model, half: Model | None, directory: Path, card: str, onnx: Path | None, *, head: bool
) -> Model:
    """The saved model, loaded again; beside it that in bfloat16 and the ONNX files, of this run alone."""
    remove(directory / BFLOAT16)
    if half is not None:
        saved(half, directory / BFLOAT16, card, head=head)
    written = saved(smaller, directory / "model", card, head=head)
    if onnx is not None:
        replace_folder(onnx, directory / "model" / ONNX)
    return written


def in_bfloat16(model: Model) -> Model:
    """A copy of a model whose weights are in bfloat16: two bytes each, rounded to eight significant bits."""
    network: Any = copy.deepcopy(model.network)
    return replace(model, network=network.to(torch.bfloat16))


def refuse_bfloat16(model: Model) -> None:
    """Refuse to write a model in bfloat16 beside one that has no more bits.

    Raises `HeadscopeError` for weights of two bytes.
    """
    dtype = model.network.dtype
    if dtype in (torch.bfloat16, torch.float16):
        raise HeadscopeError(
            f"the weights of '{model.name}' are in {dtype}, so --bfloat16 would save nothing; leave it or --dtype out"
        )
