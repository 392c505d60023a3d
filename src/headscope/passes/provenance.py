"""What numbers depend on: the provenance of a result, stored in its attributes, and fingerprints of computations.

No other computation goes on from the journal of one with its fingerprint.
"""

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import torch

from headscope.capture.spread import weights_hash
from headscope.corpora import Corpus
from headscope.encoding.encoded import special_names
from headscope.models import Model
from headscope.models.config import attention_shape
from headscope.models.prediction_heads import adapted_head
from headscope.models.saved_tokenizer import tokenizer_note
from headscope.passes.settings import Settings
from headscope.storage.hashes import CHARACTERS, Fingerprint, hash_of
from headscope.version import __version__

LIBRARIES = ("torch", "transformers", "tokenizers", "icu4py", "numpy", "xarray")
# They do not change what a network computes.
NAMES = {"id2label", "label2id", "transformers_version", "architectures", "dtype"}


def provenance(study: str, model: Model, corpus: Corpus, settings: Settings) -> dict[str, str | int]:
    """Study, model, corpus, settings, seed and library versions, as attributes of a result.

    * `drawn`: which examples of the corpus were read, where these are not all.
    * `adapted_head`: only of a model whose head for masked words was trained afterwards.
    * `model_notes`: how the model is read, where that has to be said; `quantisation`: only of a GGUF file.
    * `query_groups`, `windows`: only of a model whose heads share keys, or whose layers see a window; as JSON.
    * `special_tokens`: the tokens that begin and end inputs, of the classes cls and sep; "" where there is none.
    * `tokenizer`: only where it is not of the class that the model's folder names.

    Raises `HeadscopeError` if the files of the model have changed since they were loaded.
    """
    model.refuse_changed()  # not every study has a pass, which notices it too
    notes = {"adapted_head": adapted_head(model.network.config), "tokenizer": tokenizer_note(model.tokenizer)}
    shape = attention_shape(model.network.config, model.capture.heads)
    notes |= {name: json.dumps(by_layer) for name, by_layer in shape.items()}
    file = model.checkpoint and model.checkpoint.gguf
    notes |= {"model_notes": "; ".join(model.notes), "drawn": corpus.drawn}
    notes |= {"quantisation": file.quantisation if file else ""}
    return {
        "study": study,
        "headscope_version": __version__,
        "model": model.name,
        "model_type": model.network.config.model_type,
        "model_revision": model.revision,
        "model_sha256": model.sha256,
        "capture": model.capture.method,
        "special_tokens": json.dumps(special_names(model.tokenizer), ensure_ascii=False),
        **{name: note for name, note in notes.items() if note},
        "corpus": corpus.name,
        "corpus_sha256": corpus.sha256,
        "seed": settings.seed,
        "settings": json.dumps(
            settings.as_attributes()
            | {"device": str(model.device), "dtype": str(model.network.dtype).removeprefix("torch.")}
        ),
        "versions": versions(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> str:
    """The versions of Python and of the libraries that numbers depend on, as JSON."""
    return json.dumps({"python": platform.python_version()} | {name: version(name) for name in LIBRARIES})


def of_machine(model: Model, settings: Settings) -> Fingerprint:
    """Device, threads and libraries: all that the bits of a number depend on; a worker has one thread."""
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
    texts |= {"drawn": corpus.drawn} if corpus.drawn else {}
    return {"model": of_model(model)} | texts | settings.as_attributes() | of_machine(model, settings)


def of_model(model: Model) -> str:
    """Hash of the configuration and the weights of a network."""
    config: dict[str, Any] = model.network.config.to_diff_dict()
    options = {key: value for key, value in config.items() if key not in NAMES and not key.startswith("_")}
    weights = model.sha256 or weights_hash(model.network)
    return hash_of([repr(sorted(options.items())).encode(), weights.encode()])
