"""Find a model's files: a local folder, the built-in model, or the hub; and say what is wrong with them."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from headscope.capture.unsupported import REFUSED
from headscope.errors import HeadscopeError, nearest, suggest
from headscope.models.hub import download
from headscope.models.minilm import HUB_ID, package_folder

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
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
    folder = Path(name).expanduser()
    if not folder.is_dir() and name == "minilm":
        folder = package_folder() or download(HUB_ID, revision, remedy="install 'headscope[demo]'")
    elif not folder.is_dir():
        _refuse_path(name, folder)
        folder = download(name, revision)
    # The hub's cache names a folder by its commit.
    commit = folder.name if folder.parent.name == "snapshots" else ""
    if revision and not commit:
        raise HeadscopeError(f"model '{name}' is a local folder and has no revision '{revision}'; leave it out")
    checkpoint = Checkpoint(name, folder, commit)
    for refuse in (_refuse_config, _refuse_weights, _refuse_tokenizer):
        refuse(checkpoint)
    if "auto_map" in checkpoint.config and not remote_code:
        raise HeadscopeError(
            f"model '{name}' needs code from its own folder; read it, then allow it with --trust-remote-code"
        )
    return checkpoint


def _refuse_path(name: str, path: Path) -> None:
    """Whatever cannot be a hub name, or has a file of that name."""
    if path.is_file():
        raise HeadscopeError(f"model '{name}' is a file; name the folder that holds it")
    if not HUB_NAME.fullmatch(name):
        beside = [str(folder) for folder in path.parent.glob("*/") if folder.is_dir()]
        hint = suggest(str(path), beside, remedy="name a folder that holds config.json")
        raise HeadscopeError(f"model '{name}' is no folder and no hub name; {hint}")
    if nearest(name, ["minilm"], cutoff=0.8):
        raise HeadscopeError(f"model '{name}' is no folder; did you mean 'minilm'?")


def _refuse_config(checkpoint: Checkpoint) -> None:
    name = checkpoint.name
    if not (checkpoint.folder / "config.json").is_file():
        raise HeadscopeError(f"model '{name}': the folder has no config.json; name a folder that save_pretrained wrote")
    try:
        kind = checkpoint.config.get("model_type", "")
    except (ValueError, AttributeError) as error:
        raise HeadscopeError(
            f"model '{name}': config.json is no JSON object ({error}); save the model again"
        ) from error
    if kind in REFUSED:
        raise HeadscopeError(f"model '{name}': type '{kind}' {REFUSED[kind]}; use another model")


def _refuse_weights(checkpoint: Checkpoint) -> None:
    if not any(checkpoint.folder.glob("*.safetensors")):
        pickled = ", ".join(sorted(path.name for path in checkpoint.folder.glob("*.bin")))
        raise HeadscopeError(
            f"model '{checkpoint.name}' has no .safetensors weights{f', but {pickled}' if pickled else ''}; "
            "load it with transformers where you trust it and save_pretrained it again"
        )


def _refuse_tokenizer(checkpoint: Checkpoint) -> None:
    if not any(path for pattern in TOKENIZER_FILES for path in checkpoint.folder.glob(pattern)):
        raise HeadscopeError(
            f"model '{checkpoint.name}' has no tokenizer files; save its tokenizer into the folder with save_pretrained"
        )
