"""Heads that give a class or a score for a text or a pair, by the names of their classes."""

from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import locate
from headscope.models.loading import with_head
from headscope.models.model import Model

CLASSIFIERS = frozenset(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values())


def with_task_head(model: Model) -> Model:
    """A model with its head for classes or scores of texts, loaded anew if it was loaded without.

    Raises `HeadscopeError` if it has none.
    """
    if not _has_task_head(model) and model.files:
        model = with_head(model, locate(model.name, revision=model.revision or None))
    if not _has_task_head(model):
        raise HeadscopeError(
            f"model '{model.name}' is a {type(model.network).__name__}, without a head for classes or scores of texts; "
            "'headscope finetune' trains one"
        )
    return model


def _has_task_head(model: Model) -> bool:
    return type(model.network).__name__ in CLASSIFIERS
