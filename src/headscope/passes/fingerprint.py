"""Fingerprints of all that numbers depend on, so that no other computation goes on from a journal."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import torch

from headscope.capture.spread import stored
from headscope.corpora import Corpus
from headscope.models import Model
from headscope.passes.settings import Settings
from headscope.storage.fingerprint import CHARACTERS, Fingerprint, hash_of
from headscope.version import __version__

# They do not change what a network computes.
NAMES = {"id2label", "label2id", "transformers_version", "architectures", "dtype"}


def of_machine(model: Model, settings: Settings) -> Fingerprint:
    """Device, threads and libraries, as far as the last bit of a number depends on them; a worker has one thread."""
    on_gpu = model.device.type == "cuda"
    name = torch.cuda.get_device_name(model.device) if on_gpu else torch.backends.cpu.get_cpu_capability()
    return {
        "dtype": str(model.network.dtype).removeprefix("torch."),
        "device": f"{model.device} ({name})",
        "threads": 1 if settings.in_parts else torch.get_num_threads(),
        "headscope": __version__,
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def of_pass(model: Model, corpus: Corpus, settings: Settings) -> Fingerprint:
    """Model, corpus, settings and machine."""
    texts: Fingerprint = {"corpus": corpus.sha256[:CHARACTERS], "examples": corpus.n_examples}
    return {"model": of_model(model)} | texts | settings.as_attributes() | of_machine(model, settings)


def of_model(model: Model) -> str:
    """Hash of the configuration and the weights of a network."""
    config: dict[str, Any] = model.network.config.to_diff_dict()
    options = {key: value for key, value in config.items() if key not in NAMES and not key.startswith("_")}
    weights = [model.sha256.encode()] if model.sha256 else _weights(model)
    return hash_of([repr(sorted(options.items())).encode(), *weights])


def _weights(model: Model) -> Iterable[bytes]:
    """Bytes of the weights of a network that was never in a file."""
    for name, tensor in sorted(model.network.state_dict().items()):
        yield name.encode()
        yield stored(model.network, name, tensor).to("cpu").contiguous().view(torch.uint8).numpy().tobytes()
