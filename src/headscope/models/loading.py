"""Load a model: a Hugging Face id, a local folder, or the built-in `minilm`."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, AutoModel, PreTrainedConfig, PreTrainedModel

from headscope.capture.self_check import check
from headscope.capture.spread import is_spread
from headscope.capture.transformers_logging import quiet, refusing
from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.models.adapters import MERGE, merged, n_labels, shapes
from headscope.models.checkpoint import PRUNING, Checkpoint, locate
from headscope.models.config import bounded, load_config
from headscope.models.gguf_model import weights_of
from headscope.models.hub import verify
from headscope.models.model import Model, read_as, without_decoder
from headscope.models.pruned_checkpoint import built, headless_class, pruning_of
from headscope.models.segment_ids import with_segment_ids
from headscope.models.tokenizer import load_tokenizer
from headscope.models.unsaved_buffers import fill_buffers
from headscope.models.weights import hold_in_memory, refuse_non_finite, refuse_report, refuse_types
from headscope.storage.files import opening
from headscope.storage.kept_inputs import return_freed_memory

DEVICES = ("cpu", "cuda", "mps", "xpu")
DTYPES = ("float32", "bfloat16", "float16", "float64")
AUTO = "auto"


@opening()
def load(
    name: str | Path | Checkpoint = "minilm",
    *,
    head: bool = False,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype = "float32",
    revision: str | None = None,
    remote_code: bool = False,
    tokenizer: str | Path | None = None,
) -> Model:
    """Load a model and check that its attention is captured exactly; of an encoder-decoder, its encoder.

    * `name`: a Hugging Face id, a folder written by `save_pretrained`, a GGUF file, `minilm`, or a located checkpoint.
      An adapter of peft is merged into its base model, which its configuration names.
    * `head`: keep the task head of the checkpoint, so that `model.network` returns its outputs.
    * `device`: a device of torch (default: a GPU if there is one). "auto" is for a model that is larger than one GPU:
      it fills the GPUs, then memory, and leaves the rest on disk; "auto:20GiB" bounds the weights on each GPU.
    * `dtype`: format of the weights: float32, bfloat16, float16 or float64. Attention is observed in float32.
    * `revision`: the branch, tag or commit of a hub model.
    * `remote_code`: run Python code from the model's folder.
    * `tokenizer`: the folder of another tokenizer, such as that of the model which a GGUF file was made from.

    Only safetensors weights are read, and those of GGUF files, dequantised. Raises `HeadscopeError` if the model cannot
    be loaded completely, has weights that are not finite, a tokenizer of another model, or attention that cannot be
    captured exactly.

    >>> model = load("minilm")
    >>> model.capture.method, len(model.capture.heads), model.capture.heads[0]
    ('attention interface', 6, 12)
    """
    named = None if device is None else str(device)
    devices = device_map(named) if named and is_auto(named) else device_of(named)
    kind = dtype_of(str(dtype).removeprefix("torch."))
    if not isinstance(name, str | os.PathLike | Checkpoint):
        raise HeadscopeError(f"a {type(name).__name__} is no name of a model; use headscope.wrap(model, tokenizer)")
    options: Any = {"revision": revision, "remote_code": remote_code, "tokenizer": tokenizer}
    checkpoint = name if isinstance(name, Checkpoint) else locate(str(name), **options)
    remote_code = remote_code and PRUNING not in checkpoint.config  # the code of a pruned model is for other programs
    settings, config = checkpoint.settings(), load_config(checkpoint, remote_code=remote_code)
    reader = load_tokenizer(checkpoint, remote_code=remote_code)
    return_freed_memory()  # of the files of a large vocabulary, before the weights are read
    weights = checkpoint.weights()
    if checkpoint.name == "minilm":
        verify(weights.sha256)
    with bounded(checkpoint):
        network = _network(checkpoint, config, devices, head=head, dtype=kind, remote_code=remote_code)
    network = (network if head else without_decoder(network)).eval()
    if isinstance(devices, torch.device):
        nn.Module.to(network, devices)
        if not checkpoint.gguf:  # whose dequantised weights are no pages of a file
            hold_in_memory(network)
    capture, files = check(network), (weights, settings)
    reader, notes = read_as(checkpoint.name, network, reader)
    revision, sha256 = checkpoint.revision, weights.sha256
    return Model(checkpoint.name, network, reader, capture, revision, sha256, files, notes, checkpoint)


def without_head(model: Model) -> Model | None:
    """The bare network of a model, of the same weights; None where a load without the head gives another network."""
    base: Any = model.network.base_model
    if type(base) is not transformers.MODEL_MAPPING.get(type(model.network.config), None) or is_spread(model.network):
        return None
    tokenizer, _ = with_segment_ids(model.name, base, model.tokenizer)  # whose notes are those of the model
    return replace(model, network=base, tokenizer=tokenizer, capture=check(base))


def with_head(model: Model, *, remote_code: bool = False) -> Model:
    """A model loaded again from its checkpoint, with its head, on the same device and in the same number format."""
    assert model.checkpoint
    device, dtype = AUTO if is_spread(model.network) else model.device, str(model.network.dtype)
    return load(model.checkpoint, head=True, device=device, dtype=dtype.removeprefix("torch."), remote_code=remote_code)


def _network(
    checkpoint: Checkpoint,
    config: PreTrainedConfig,
    devices: torch.device | dict[str, Any],
    *,
    head: bool,
    dtype: torch.dtype,
    remote_code: bool,
) -> PreTrainedModel:
    pruning = pruning_of(config)
    if pruning:  # the folder's own code is for other programs
        vars(config).pop("auto_map", None)
    plain = headless_class(config) if pruning or checkpoint.file else AutoModel
    kind: Any = _head_class(checkpoint, config) if head else plain
    made: Any = built(kind, pruning) if pruning else kind
    code = {"trust_remote_code": remote_code} if kind is AutoModel else {}
    failure = refusing(f"model '{checkpoint.name}' cannot be loaded", "save or download it again")
    if quantised := checkpoint.config.get("quantization_config"):
        failure = _refusing_quantised(checkpoint.name, quantised)
    with quiet(), failure, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Casting complex values")  # they are refused below
        adapter_shapes = shapes(checkpoint.adapter) if head and checkpoint.adapter else {}
        file = checkpoint.gguf
        network, report = made.from_pretrained(
            None if file else checkpoint.folder,
            state_dict=weights_of(file, config, checkpoint.name, dtype) if file else None,
            config=config,
            local_files_only=True,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=dtype,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **({} if isinstance(devices, torch.device) else devices),
            **code,
        )
        fill_buffers(network, checkpoint.name)
    refuse_report(checkpoint.name, network, report, head=head, later=adapter_shapes)
    if not file:
        refuse_types(checkpoint.name, network, checkpoint.stored())
    if pruning:
        network.__class__ = kind
    if checkpoint.adapter:
        if is_spread(network):
            raise HeadscopeError(f"model '{checkpoint.name}': an adapter cannot be merged on several devices; {MERGE}")
        network = merged(network, checkpoint.adapter, checkpoint.name, head=head)
    refuse_non_finite(checkpoint.name, network)
    return network


@contextmanager
def _refusing_quantised(name: str, settings: Any) -> Iterator[None]:
    """Within this context any error says which model is wanted, in the place of what transformers would install."""
    method = settings.get("quant_method", "") if isinstance(settings, dict) else ""
    try:
        with refusing("", ""):
            yield
    except HeadscopeError as error:
        raise HeadscopeError(
            f"model '{name}' is quantised{f' ({str(method)[:40]})' if method else ''}, and its weights cannot be read "
            f"here; name the model that it was made from, with weights in {', '.join(DTYPES)}"
        ) from error


def _head_class(checkpoint: Checkpoint, config: PreTrainedConfig) -> type[PreTrainedModel]:
    """The class with the task head that the checkpoint names, or of an adapter's own classifier."""
    labels = n_labels(checkpoint.adapter) if checkpoint.adapter else None
    if labels and type(config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        config.num_labels = labels
        classifier: Any = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(config)]
        return classifier
    named = checkpoint.config.get("architectures") or []
    kind = getattr(transformers, str(named[0]), None) if isinstance(named, list) and named else None
    if kind is transformers.MODEL_FOR_PRETRAINING_MAPPING.get(type(config), None):  # of two heads, that for pairs
        kind = transformers.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING.get(type(config), kind)
    headless = transformers.MODEL_MAPPING.get(type(config), None)
    if config.is_encoder_decoder:
        raise HeadscopeError(
            f"model '{checkpoint.name}' is an encoder-decoder, whose encoder has no task head; "
            "use an encoder or a decoder"
        )
    if not isinstance(kind, type) or not issubclass(kind, PreTrainedModel) or kind is headless:
        raise HeadscopeError(
            f"model '{checkpoint.name}' names no task head (architectures: {named}); 'headscope finetune' trains one"
        )
    return kind


def device_of(name: str | None) -> torch.device:
    """The device of a name; None means a GPU if there is one.

    Raises `HeadscopeError` for an unknown or missing device, and for "auto", which is not one device.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    if is_auto(name):
        raise HeadscopeError(f"device '{name}' is for a model that is only read; to train one, name a single device")
    if name.partition(":")[0] not in DEVICES:
        raise HeadscopeError(f"device '{name}' is unknown; use one of {', '.join(DEVICES)}, {AUTO}, or cuda:1")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise HeadscopeError(f"device '{name}' cannot be used here ({reason}); use cpu") from error


def is_auto(name: str | None) -> bool:
    """Whether a name stands for all devices: "auto", or with a bound as in "auto:20GiB"."""
    return (name or "").partition(":")[0] == AUTO


def device_map(name: str) -> dict[str, Any]:
    """The options of `from_pretrained` that spread a model over the GPUs, then memory, then disk.

    * `name`: "auto", or with a bound on the weights on each GPU, as in "auto:20GiB"; without a GPU, on those in memory.

    Raises `HeadscopeError` for a bound that is no size, and without accelerate.
    """
    modeling = require("accelerate").utils.modeling
    bound = name.partition(":")[2]
    if name == AUTO:
        return {"device_map": AUTO}
    try:
        most = modeling.convert_file_size_to_int(bound)
    except ValueError as error:
        raise HeadscopeError(f"device '{name}': '{bound}' is no size; write one like auto:20GiB") from error
    room: dict[int | str, int] = modeling.get_max_memory()
    gpus = [device for device in room if device != "cpu"] or ["cpu"]
    return {"device_map": AUTO, "max_memory": room | {device: min(most, room[device]) for device in gpus}}


def dtype_of(name: str) -> torch.dtype:
    """The number format of a name. Raises `HeadscopeError` for a name outside `DTYPES`.

    >>> dtype_of("bfloat16")
    torch.bfloat16
    """
    if name not in DTYPES:
        raise HeadscopeError(f"dtype '{name}' is unknown; use one of {', '.join(DTYPES)}")
    return getattr(torch, name)
