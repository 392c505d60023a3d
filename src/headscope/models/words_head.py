"""Heads that predict words, masked ones from both sides or the next one, by the names of their classes."""

from inspect import signature
from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint, locate
from headscope.models.loading import with_head
from headscope.models.model import Model

MASKED = frozenset(MODEL_FOR_MASKED_LM_MAPPING_NAMES.values())
CAUSAL = frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
# The key in the configuration of a model whose head was trained by `pretrain-head`.
ADAPTED = "headscope_adapted_head"


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


def has_words_head(name: str | Checkpoint, *, revision: str | None = None, remote_code: bool = False) -> bool:
    """True if the first architecture of a checkpoint has a head for masked words; see `load` for the arguments.

    Raises `HeadscopeError` if there is no such checkpoint.

    >>> has_words_head("minilm")
    False
    """
    checkpoint = name if isinstance(name, Checkpoint) else locate(name, revision=revision, remote_code=remote_code)
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
    """Why a model predicts no words: it has no head, no mask to predict behind, or sees what follows; "" if it does."""
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
    """A model with its head for masked or next words, loaded anew if it was loaded without; itself if it has none."""
    if model.checkpoint and no_words(model) and predicts_words(model.checkpoint):
        return with_head(model, remote_code=True)  # it was allowed before
    return model


def mark_adapted(config: PreTrainedConfig, words: str) -> None:
    """Note in a configuration that the head for masked words was trained afterwards, and on what."""
    setattr(config, ADAPTED, words)


def adapted_head(config: Any) -> str:
    """The note of `mark_adapted` in a configuration; "" without one."""
    return str(getattr(config, ADAPTED, ""))
