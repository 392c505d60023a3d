"""Fingerprint of all that the outputs of a model depend on, so that no other computation continues a journal."""

from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import torch

from headscope.ablation.strategies import SweptInputs
from headscope.engine.settings import Settings
from headscope.models import Model
from headscope.version import __version__

SHOWN = 16
# They do not change what a network computes.
NAMES = {"id2label", "label2id", "transformers_version", "architectures", "dtype"}


def fingerprint(task_inputs: SweptInputs, settings: Settings) -> dict[str, str | int]:
    """Model, inputs, machine and settings, as far as the last bit of an output depends on them."""
    arrays = [array for encoded in task_inputs.inputs for array in encoded.inputs.values()]
    model = task_inputs.model
    on_gpu = model.device.type == "cuda"
    name = torch.cuda.get_device_name(model.device) if on_gpu else torch.backends.cpu.get_cpu_capability()
    return {
        "model": _model(model),
        "inputs": _hash(array.tobytes() for array in (*arrays, *task_inputs.masked_pieces)),
        "seed": settings.seed,
        "batch_tokens": settings.batch_tokens,
        "dtype": str(model.network.dtype).removeprefix("torch."),
        "device": f"{model.device} ({name})",
        "threads": torch.get_num_threads(),
        "headscope": __version__,
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def _model(model: Model) -> str:
    config: dict[str, Any] = model.network.config.to_diff_dict()
    options = {key: value for key, value in config.items() if key not in NAMES and not key.startswith("_")}
    weights = [model.sha256.encode()] if model.sha256 else _weights(model)
    return _hash([repr(sorted(options.items())).encode(), *weights])


def _weights(model: Model) -> Iterable[bytes]:
    """Bytes of the weights of a network that was never in a file."""
    for name, tensor in sorted(model.network.state_dict().items()):
        yield name.encode()
        yield tensor.to("cpu").contiguous().view(torch.uint8).numpy().tobytes()


def _hash(parts: Iterable[bytes]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:SHOWN]
