"""Heads that predict words, masked ones from both sides or the next one, by their classes; and heads of tasks."""

from inspect import signature
from pathlib import Path
from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.loading import with_head
from headscope.models.model import Model

MASKED = frozenset(MODEL_FOR_MASKED_LM_MAPPING_NAMES.values())
CAUSAL = frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
# The key in the configuration of a model whose head was trained by `pretrain-head`.
ADAPTED = "headscope_adapted_head"
# What versions 4 to 5 of sentence-transformers, and earlier ones, write into the configuration of a cross-encoder.
OF_CROSS_ENCODERS = ("sentence_transformers", "sbert_ce_default_activation_function")
CLASSIFIERS = frozenset(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values())


def has_masked_lm_head(network: PreTrainedModel) -> bool:
    """True for a network with a head for masked words."""
    return type(network).__name__ in MASKED


def is_causal(model: Model) -> bool:
    """True for a model with a head for the next word whose predictions do not change with later words."""
    return has_next_word_head(model.network) and not model.looks_ahead


def sees_its_answers(model: Model) -> bool:
    """True for a model with a head for the next word that attends to later words."""
    return has_next_word_head(model.network) and model.looks_ahead


def has_next_word_head(network: PreTrainedModel) -> bool:
    """True for a network with a head for the next word."""
    return type(network).__name__ in CAUSAL - MASKED


def has_words_head(checkpoint: Checkpoint) -> bool:
    """True if the first architecture of a checkpoint has a head for masked words."""
    return _architecture(checkpoint) in MASKED


def predicts_words(checkpoint: Checkpoint) -> bool:
    """True if the first architecture of a checkpoint has a head for masked or next words."""
    return _architecture(checkpoint) in MASKED | CAUSAL


def _architecture(checkpoint: Checkpoint) -> str:
    named = checkpoint.config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else ""


def refuse_without_words_head(model: Model) -> None:
    """Raise `HeadscopeError` if a model predicts neither masked nor next words; see `no_words`."""
    if reason := no_words(model):
        raise HeadscopeError(f"model '{model.name}': {reason}")


def no_words(model: Model) -> str:
    """Why a model predicts no words: it has no head, no mask to predict under, or sees what follows; "" if it does."""
    network, kind = model.network, type(model.network).__name__
    if has_masked_lm_head(network):
        masks = isinstance(model.tokenizer.mask_token_id, int)
        return "" if masks else "its tokenizer has no mask; save the model's own tokenizer with it"
    if not has_next_word_head(network):
        return (
            f"it is a {kind}, without a head that predicts words; train one with 'headscope pretrain-head', or name a "
            "model with a masked-language or causal head"
        )
    if model.looks_ahead:
        permuted = "perm_mask" in signature(network.forward).parameters
        remedy = "set is_decoder and is_causal in config.json if it was trained causally, else name another model"
        return (
            f"its {kind} has a head for the next word and attends to later words, so that it would see its answers; "
            f"{'name another model' if permuted else remedy}"
        )
    return ""


def with_words_head(model: Model) -> Model:
    """A model with its head for masked or next words, loaded again if it was loaded without; itself if it has none."""
    if model.checkpoint and no_words(model) and predicts_words(model.checkpoint):
        return with_head(model, remote_code=True)  # it was allowed before
    return model


def mark_adapted(config: PreTrainedConfig, words: str) -> None:
    """Note in a configuration that the head for masked words was trained afterwards, and on what."""
    setattr(config, ADAPTED, words)


def adapted_head(config: Any) -> str:
    """The note of `mark_adapted` in a configuration; "" without one."""
    return str(getattr(config, ADAPTED, ""))


def with_task_head(model: Model) -> Model:
    """A model with its head for classes or scores, loaded again if needed. Raises `HeadscopeError` if it has none."""
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
