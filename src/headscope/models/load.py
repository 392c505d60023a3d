"""Load a model by name: a Hugging Face id, a local folder, or the built-in `minilm`."""

import torch
import transformers
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from headscope.errors import HeadscopeError
from headscope.models.check import check
from headscope.models.checkpoint import Checkpoint, locate
from headscope.models.minilm import verify
from headscope.models.model import Model, without_decoder
from headscope.models.quiet import quiet


def load(
    name: str = "minilm",
    *,
    head: bool = False,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    remote_code: bool = False,
) -> Model:
    """A model ready to be observed, once it has passed the self-check; of an encoder-decoder, its encoder.

    * `name`: a Hugging Face id, a folder that `save_pretrained` wrote, or `minilm`.
    * `head`: keep the task head that the checkpoint names, so that `model.network` gives its outputs.
    * `device`: where it computes; by default a GPU if there is one.
    * `dtype`: of its weights: float32, bfloat16, float16 or float64. Attention is observed in float32.
    * `revision`: the branch, tag or commit of a hub model.
    * `remote_code`: allow Python code that comes with the model to run.

    Raises `HeadscopeError` for anything that a user can mend, and for models whose attention cannot be
    captured exactly. Only safetensors weights are read.

    >>> model = load("minilm")
    >>> model.capture.method, len(model.capture.heads), model.capture.heads[0]
    ('attention interface', 6, 12)
    """
    checkpoint = locate(name, revision=revision, remote_code=remote_code)
    tokenizer = load_tokenizer(checkpoint, remote_code=remote_code)
    sha256 = checkpoint.sha256
    if name == "minilm":
        verify(sha256)
    network = _load_network(checkpoint, head, _dtype(dtype), remote_code)
    network = without_decoder(network).to(_device(device)).eval()
    return Model(name, network, tokenizer, check(network), checkpoint.revision, sha256)


def load_tokenizer(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The tokenizer of a model.

    Raises `HeadscopeError` if it cannot be loaded, or does not say which characters its pieces cover.
    """
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                checkpoint.folder, local_files_only=True, trust_remote_code=remote_code
            )
    except Exception as error:  # tokenizers raise anything, down to bare Exception
        raise HeadscopeError(
            f"model '{checkpoint.name}': its tokenizer cannot be loaded: {_first_line(error)}"
        ) from error
    if not tokenizer.is_fast:
        raise HeadscopeError(
            f"model '{checkpoint.name}': tokenizer {type(tokenizer).__name__} does not give character offsets; "
            "convert it to a fast one (tokenizer.json)"
        )
    return tokenizer


def _load_network(checkpoint: Checkpoint, head: bool, dtype: torch.dtype, remote_code: bool) -> PreTrainedModel:
    kind = _head_class(checkpoint) if head else AutoModel
    try:
        with quiet():
            network, report = kind.from_pretrained(
                checkpoint.folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=remote_code,
                attn_implementation="eager",
                dtype=dtype,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise HeadscopeError(f"model '{checkpoint.name}' cannot be loaded: {_first_line(error)}") from error
    # A pooler is not attention, and many checkpoints come without one.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise HeadscopeError(
            f"model '{checkpoint.name}': {len(missing)} weights are not in the checkpoint ({missing[0]}, ...) "
            "and would be random; name a complete checkpoint"
        )
    return network


def _head_class(checkpoint: Checkpoint) -> type[PreTrainedModel]:
    names = checkpoint.config.get("architectures") or []
    kind = getattr(transformers, names[0], None) if names else None
    if kind is None:
        raise HeadscopeError(f"model '{checkpoint.name}' names no architecture ({names}); load it without its head")
    return kind


def _device(device: str | None) -> torch.device:
    try:
        return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError as error:
        raise HeadscopeError(f"device '{device}' is unknown; use cpu, cuda, cuda:1 or mps") from error


def _dtype(name: str) -> torch.dtype:
    known = ("float32", "bfloat16", "float16", "float64")
    if name not in known:
        raise HeadscopeError(f"dtype '{name}' is unknown; use one of {', '.join(known)}")
    return getattr(torch, name)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
