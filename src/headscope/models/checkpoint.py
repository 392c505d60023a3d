"""The files of a model: in a local folder, of the built-in model, or from the hub."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from headscope.capture.unsupported import refuse_type
from headscope.errors import HeadscopeError, nearest, suggest
from headscope.models.adapters import WEIGHTS as ADAPTER_WEIGHTS
from headscope.models.adapters import adapter_files, base_of, is_adapter, refuse_adapters
from headscope.models.gguf_file import SUFFIX, GGUFFile, gguf_file
from headscope.models.hub import HUB_ID, download, package_folder
from headscope.models.weights import StoredWeight, stored_weights, weight_files
from headscope.storage.files import opening, refuse_text
from headscope.storage.hashes import SourceFiles, source_files

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
# The key of a pruned model's configuration; such a model is built by our own code.
PRUNING = "headscope_pruning"
# They say how a text is cut, and how the weights are used.
SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.vocab")


@dataclass(frozen=True)
class Checkpoint:
    """The name of a model, the folder of its files, and the hub's commit of a hub model.

    * `adapter`: the folder of an adapter that is merged into the model; `folder` is then that of its base model.
    * `file`: a GGUF file with weights and configuration, in the folder; `tokenizer`: the folder of another tokenizer.
    """

    name: str
    folder: Path
    revision: str = ""
    adapter: Path | None = None
    file: Path | None = None
    tokenizer: Path | None = None

    @property
    def tokenizer_folder(self) -> Path:
        """The folder of the tokenizer: the one that was named, else that of an adapter which has one of its own."""
        return self.tokenizer or (self.adapter if self.adapter and has_tokenizer(self.adapter) else self.folder)

    @property
    def gguf(self) -> GGUFFile | None:
        """The header of a GGUF file."""
        return gguf_file(self.file, self.name) if self.file else None

    @property
    def config(self) -> dict:
        """The model's configuration as stored."""
        if file := self.gguf:
            from headscope.models.gguf_model import config_of

            return config_of(file, self.name, self.tokenizer).to_dict()
        return json.loads((self.folder / "config.json").read_text(encoding="utf-8"))

    @property
    def sha256(self) -> str:
        """The hash of the weight files."""
        return self.weights().sha256

    def weights(self) -> SourceFiles:
        """The weight files that are read, in the order of their names, an adapter's last."""
        files = adapter_files(self.adapter) if self.adapter else ()
        return source_files((*([self.file] if self.file else weight_files(self.folder, self.name)), *files))

    def stored(self) -> dict[str, StoredWeight]:
        """The weights in the files, by name, from the headers alone.

        Raises `HeadscopeError` if a file is cut, or is no safetensors file.
        """
        from safetensors import SafetensorError

        if file := self.gguf:
            return file.weights
        files = weight_files(self.folder, self.name)
        try:
            return stored_weights((*files, self.adapter / ADAPTER_WEIGHTS) if self.adapter else files)
        except PermissionError:
            raise
        except (SafetensorError, OSError) as error:
            raise HeadscopeError(
                f"model '{self.name}' cannot be loaded ({error}); save or download it again"
            ) from error

    def settings(self) -> SourceFiles:
        """The files of the configuration and the tokenizer."""
        folders = {self.tokenizer_folder} if self.file else {self.folder, self.tokenizer_folder}
        names = (*SETTINGS, *TOKENIZER_FILES)
        return source_files(sorted({path for folder in folders for name in names for path in folder.glob(name)}))


@opening()
def locate(
    name: str, *, revision: str | None = None, remote_code: bool = False, tokenizer: str | Path | None = None
) -> Checkpoint:
    """Find the files of a model, or of an adapter and its base model; only a hub model is downloaded.

    * `tokenizer`: the folder of a tokenizer to take in the place of the model's.

    Raises `HeadscopeError` if there is no such model, or it cannot be used: its attention cannot be captured, its
    weights are not safetensors, an adapter lies beside them, it has no tokenizer, or it needs code of its own.
    """
    other = None if tokenizer is None else Path(tokenizer).expanduser()
    if other and not has_tokenizer(other):
        raise HeadscopeError(f"tokenizer '{other}' is no folder with a tokenizer; name one that save_pretrained wrote")
    path = Path(os.path.expanduser(name))
    if path.suffix == SUFFIX and not path.is_dir():  # a name of the hub does not end so
        if not path.is_file():
            raise HeadscopeError(f"model '{name}' does not exist; check the path of the GGUF file")
        checkpoint = Checkpoint(name, path.parent, file=path, tokenizer=other)
        _ = checkpoint.config  # whatever is wrong with it is said here
        return checkpoint
    folder, commit = _folder(name, revision)
    checkpoint = Checkpoint(name, folder, commit, tokenizer=other)
    if is_adapter(folder):
        base, _ = _folder(*base_of(folder, name))
        if is_adapter(base):
            raise HeadscopeError(f"model '{name}' is an adapter of an adapter; merge that into its model first")
        checkpoint = Checkpoint(name, base, commit, folder, tokenizer=other)
    for refuse in (_refuse_other_files, _refuse_config, _refuse_weights, _refuse_tokenizer):
        refuse(checkpoint)
    if "auto_map" in checkpoint.config and PRUNING not in checkpoint.config and not remote_code:
        raise HeadscopeError(
            f"model '{name}' needs code from its own folder; read it, then allow it with --trust-remote-code"
        )
    return checkpoint


def _folder(name: str, revision: str | None) -> tuple[Path, str]:
    """The folder of a model's files, downloaded if need be, and the hub's commit of a hub model."""
    refuse_text("model", name)
    folder = Path(os.path.expanduser(name))
    if not folder.is_dir() and name == "minilm":
        folder = package_folder() or download(HUB_ID, revision, remedy="install 'headscope[demo]'")
    elif not folder.is_dir():
        _refuse_path(name, folder)
        folder = download(name, revision)
    # The hub's cache names a folder by its commit.
    commit = folder.name if folder.parent.name == "snapshots" else ""
    if revision and not commit:
        raise HeadscopeError(f"model '{name}' is a local folder and has no revision '{revision}'; leave it out")
    return folder, commit


def _refuse_path(name: str, path: Path) -> None:
    """Raise `HeadscopeError` for a name that cannot be a hub name, or is anything but a folder."""
    if path.is_file():
        raise HeadscopeError(f"model '{name}' is a file; name the folder that holds it")
    if os.path.lexists(path):
        kind = "a link to nothing" if path.is_symlink() and not path.exists() else "a pipe or a device"
        raise HeadscopeError(f"model '{name}' is {kind}; name the folder of a model")
    if not HUB_NAME.fullmatch(name):
        beside = [str(folder) for folder in path.parent.glob("*/") if folder.is_dir()]
        hint = suggest(str(path), beside, remedy="name a folder that holds config.json")
        raise HeadscopeError(f"model '{name}' is no folder and no hub name; {hint}")
    if nearest(name, ["minilm"], cutoff=0.8):
        raise HeadscopeError(f"model '{name}' is no folder; did you mean 'minilm'?")


def _refuse_other_files(checkpoint: Checkpoint) -> None:
    """Raise `HeadscopeError` for a pipe, a socket or a device among the files: to read it might never end."""
    for folder in filter(None, (checkpoint.folder, checkpoint.adapter)):
        for path in folder.iterdir():
            if path.exists() and not path.is_file() and not path.is_dir():
                raise HeadscopeError(f"model '{checkpoint.name}': '{path.name}' is no plain file; remove it")


def _refuse_config(checkpoint: Checkpoint) -> None:
    name = checkpoint.name
    if not (checkpoint.folder / "config.json").is_file():
        files = sorted(path.name for path in checkpoint.folder.glob(f"*{SUFFIX}"))
        remedy = f"name its file {files[0]}" if files else "name a folder that save_pretrained wrote"
        raise HeadscopeError(f"model '{name}': the folder has no config.json; {remedy}")
    try:
        kind = checkpoint.config.get("model_type", "")
    except (ValueError, AttributeError, RecursionError) as error:
        raise HeadscopeError(
            f"model '{name}': config.json is no JSON object ({error}); save the model again"
        ) from error
    if not isinstance(kind, str):
        raise HeadscopeError(
            f"model '{name}': model_type in config.json is {str(kind)[:40]!r}, not a name; save the model again"
        )
    if "transformers_weights" in checkpoint.config:
        raise HeadscopeError(
            f"model '{name}': transformers_weights in config.json names other weights; save the model again"
        )
    if removed := checkpoint.config.get("pruned_heads"):
        raise HeadscopeError(
            f"model '{name}': config.json removes heads (pruned_heads: {str(removed)[:60]}), and transformers 5 "
            "does not; delete that line to measure all heads in the weights"
        )
    refuse_type(kind, name)


def _refuse_weights(checkpoint: Checkpoint) -> None:
    weight_files(checkpoint.folder, checkpoint.name)
    refuse_adapters(checkpoint.folder, checkpoint.name)


def _refuse_tokenizer(checkpoint: Checkpoint) -> None:
    if not has_tokenizer(checkpoint.tokenizer_folder):
        raise HeadscopeError(
            f"model '{checkpoint.name}' has no tokenizer files; save its tokenizer into the folder with save_pretrained"
        )


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds the files of a tokenizer."""
    return any(path for pattern in TOKENIZER_FILES for path in folder.glob(pattern))
