"""Heads that give a class or a score for a text or a pair, by the names of their classes."""

from pathlib import Path

from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from headscope.errors import HeadscopeError
from headscope.models.loading import with_head
from headscope.models.model import Model

# What versions 4 to 5 of sentence-transformers, and earlier ones, write into the configuration of a cross-encoder.
OF_CROSS_ENCODERS = ("sentence_transformers", "sbert_ce_default_activation_function")
CLASSIFIERS = frozenset(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values())


def with_task_head(model: Model) -> Model:
    """A model with its head for classes or scores, loaded anew if need be. Raises `HeadscopeError` if it has none."""
    if not _with_head(model) and model.checkpoint:
        model = with_head(model)
    if not _with_head(model):
        raise HeadscopeError(
            f"model '{model.name}' is a {type(model.network).__name__}, without a head for classes or scores of texts; "
            "'headscope finetune' trains one"
        )
    return model


def is_cross_encoder(model: Model) -> bool:
    """Whether sentence-transformers saved a model as one that reads pairs; of other models it is not known."""
    folder = str(model.network.name_or_path)
    path = Path(folder, "config_sentence_transformers.json")
    saved = bool(folder) and path.is_file() and '"CrossEncoder"' in path.read_text(encoding="utf-8", errors="replace")
    return saved or any(hasattr(model.network.config, name) for name in OF_CROSS_ENCODERS)


def has_task_head(model: Model) -> bool:
    """Whether a model, or the checkpoint that it was loaded from, has a head for classes or scores of texts."""
    named = getattr(model.network.config, "architectures", None) or ()
    return _with_head(model) or (bool(model.files) and not CLASSIFIERS.isdisjoint(named))


def _with_head(model: Model) -> bool:
    return type(model.network).__name__ in CLASSIFIERS
