"""Where the steps of a training lie, and the files of the first of them."""

import re
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint, locate

# Of a fine-tuning the folder of its steps, and within it that of the model before the training.
STEPS, START = "steps", "start"
REVISION = re.compile(r"(.+)@([^@/]+)")


def steps_folder(name: str) -> Path | None:
    """The folder of kept steps that a folder is or holds; None without one, `HeadscopeError` for several."""
    folder = Path(name).expanduser()
    folders = [
        path for path in (folder, folder / STEPS, *sorted((folder / STEPS).glob("*"))) if (path / START).is_dir()
    ]
    if len(folders) > 1:
        raise HeadscopeError(f"folder '{name}' holds the steps of several trainings; name one, such as '{folders[0]}'")
    return folders[0] if folders else None


def first_checkpoint(name: str, **loading: Any) -> Checkpoint:
    """The files of the first model of a training: the start of kept steps, or the model that is named."""
    folder = steps_folder(name)
    return (
        locate(str(folder / START), remote_code=bool(loading.get("remote_code")))
        if folder
        else located(name, **loading)
    )


def located(
    name: str, *, revision: str | None = None, remote_code: bool = False, tokenizer: str | None = None, **_: Any
) -> Checkpoint:
    """The files of a model; of `MODEL@REVISION`, which is no folder, those of the revision on the hub."""
    match = None if Path(name).expanduser().exists() else REVISION.fullmatch(name)
    name, revision = (match[1], match[2]) if match else (name, revision)
    return locate(name, revision=revision, remote_code=remote_code, tokenizer=tokenizer)
