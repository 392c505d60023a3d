"""Find a model's files: a local folder, the built-in model, or the hub."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.models.families import REFUSED
from headscope.models.minilm import HUB_ID, package_folder

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
HUB_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.py"]
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.vocab")


@dataclass(frozen=True)
class Checkpoint:
    """The folder of a model's files, the name it was asked for, and the hub's commit if it came from there."""

    name: str
    folder: Path
    revision: str = ""

    @property
    def config(self) -> dict:
        """The model's configuration as stored."""
        return json.loads((self.folder / "config.json").read_text(encoding="utf-8"))

    @property
    def sha256(self) -> str:
        """The hash of the weights: of the file, or of all files in the order of their names."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.glob("*.safetensors")):
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        return digest.hexdigest()


def locate(name: str, *, revision: str | None = None, remote_code: bool = False) -> Checkpoint:
    """The files of a model, downloaded only if `name` is a hub name.

    Raises `HeadscopeError` if there is no such model, or if it cannot be used: its attention cannot be
    captured, its weights are a pickle, it has no tokenizer, or it needs code of its own.
    """
    if Path(name).is_dir():
        checkpoint = Checkpoint(name, Path(name))
    elif name == "minilm" and (folder := package_folder()):
        checkpoint = Checkpoint(name, folder)
    elif name == "minilm" or HUB_NAME.fullmatch(name):
        checkpoint = _download(name, revision)
    else:
        raise HeadscopeError(f"model '{name}' is no folder and no hub name; name a folder that holds config.json")
    _refuse(checkpoint, remote_code)
    return checkpoint


def _download(name: str, revision: str | None) -> Checkpoint:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    source = HUB_ID if name == "minilm" else name
    remedy = "install 'headscope[demo]'" if name == "minilm" else "name a local folder, or connect and try again"
    try:
        folder = snapshot_download(source, revision=revision, allow_patterns=HUB_FILES)
    except RevisionNotFoundError as error:
        raise HeadscopeError(f"model '{source}' has no revision '{revision}' on the hub") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise HeadscopeError(f"model '{source}' is no folder here and is not on the hub; check its name") from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, OSError) as error:
        raise HeadscopeError(f"model '{source}' is no folder here and the hub cannot be reached; {remedy}") from error
    return Checkpoint(name, Path(folder), revision=Path(folder).name)


def _refuse(checkpoint: Checkpoint, remote_code: bool) -> None:
    name, folder = checkpoint.name, checkpoint.folder
    if not (folder / "config.json").is_file():
        raise HeadscopeError(f"model '{name}': the folder has no config.json; name a folder that save_pretrained wrote")
    try:
        config = checkpoint.config
    except ValueError as error:
        raise HeadscopeError(f"model '{name}': config.json is not JSON ({error}); save the model again") from error
    kind = config.get("model_type", "")
    if kind in REFUSED:
        raise HeadscopeError(f"model '{name}': type '{kind}' {REFUSED[kind]}; use another model")
    if "auto_map" in config and not remote_code:
        raise HeadscopeError(
            f"model '{name}' needs code from its own folder; read it, then allow it with --trust-remote-code"
        )
    if not any(folder.glob("*.safetensors")):
        pickled = ", ".join(sorted(path.name for path in folder.glob("*.bin"))) or "no weights"
        raise HeadscopeError(
            f"model '{name}' has {pickled}, no .safetensors; "
            "load it with transformers where you trust it and save_pretrained it again"
        )
    if not any(path for pattern in TOKENIZER_FILES for path in folder.glob(pattern)):
        raise HeadscopeError(
            f"model '{name}' has no tokenizer files; save its tokenizer into the folder with save_pretrained"
        )
