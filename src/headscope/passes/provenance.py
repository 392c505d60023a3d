"""The provenance of a result, stored in its attributes."""

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version

from headscope.corpora import Corpus
from headscope.models import Model
from headscope.models.masked_lm import adapted_head
from headscope.passes.settings import Settings
from headscope.version import __version__

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "xarray")


def provenance(study: str, model: Model, corpus: Corpus, settings: Settings) -> dict[str, str | int]:
    """Study, model, corpus, settings, seed and library versions, as attributes of a result.

    * `adapted_head`: only of a model whose head for masked words was trained afterwards.

    Raises `HeadscopeError` if the files of the model have changed since they were loaded.
    """
    model.refuse_changed()  # not every study has a pass, which notices it too
    adapted = adapted_head(model.network.config)
    return {
        "study": study,
        "headscope_version": __version__,
        "model": model.name,
        "model_type": model.network.config.model_type,
        "model_revision": model.revision,
        "model_sha256": model.sha256,
        "capture": model.capture.method,
        **({"adapted_head": adapted} if adapted else {}),
        "corpus": corpus.name,
        "corpus_sha256": corpus.sha256,
        "seed": settings.seed,
        "settings": json.dumps(
            settings.as_attributes()
            | {"device": str(model.device), "dtype": str(model.network.dtype).removeprefix("torch.")}
        ),
        "versions": json.dumps({"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
