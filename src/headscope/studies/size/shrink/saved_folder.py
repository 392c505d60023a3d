"""The folder of a smaller model: written, and loaded again."""

from pathlib import Path

from headscope.models import Model, load
from headscope.models.pruned_folder import save
from headscope.storage.files import replace_folder
from headscope.studies.size.shrink.eight_bit import FOLDER as ONNX


def saved(model: Model, folder: Path, card: str = "", *, head: bool) -> Model:
    """Save a model and load it again, in the number format that it has.

    * `card`: Markdown for its card; `head`: whether it has the head of a task.

    Raises `HeadscopeError` if the folder cannot be written.
    """
    save(model, folder, card)
    dtype = str(model.network.dtype).removeprefix("torch.")
    masked = type(model.network).__name__.endswith("ForMaskedLM")
    return load(str(folder), head=head or masked, device=str(model.device), dtype=dtype)


def written_folder(smaller: Model, folder: Path, card: str, onnx: Path | None, *, head: bool) -> Model:
    """The saved model, loaded again; beside its weights the ONNX files of this run, if there are some."""
    written = saved(smaller, folder, card, head=head)
    if onnx is not None:
        replace_folder(onnx, folder / ONNX)
    return written
