"""The model's files, the folder and the device of training runs."""

from dataclasses import dataclass
from pathlib import Path

import torch

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint, locate
from headscope.models.hub import verify
from headscope.models.loading import device_of


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
    """Find the files of the model `name`, and the device.

    Raises `HeadscopeError` if there is no such model or device, or `dtype` is not float32.
    """
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
