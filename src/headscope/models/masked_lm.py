"""Heads for masked words: their detection, by the names of the classes in transformers, and the mark of a new one."""

from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headscope.models.checkpoint import Checkpoint, locate

# The key in the configuration of a model whose head was trained by `pretrain-head`.
ADAPTED = "headscope_adapted_head"


def mark_adapted(config: PreTrainedConfig, words: str) -> None:
    """Note in a configuration that the head for masked words was trained afterwards, and on what."""
    setattr(config, ADAPTED, words)


def adapted_head(config: Any) -> str:
    """The note of `mark_adapted` in a configuration; "" without one."""
    return str(getattr(config, ADAPTED, ""))


def has_masked_lm_head(network: PreTrainedModel) -> bool:
    """True for a network with a head for masked words."""
    return _predicts_words([type(network).__name__])


def has_words_head(name: str | Checkpoint, *, revision: str | None = None, remote_code: bool = False) -> bool:
    """True if the first architecture of a checkpoint has a head for masked words; see `load` for the arguments.

    Raises `HeadscopeError` if there is no such checkpoint.

    >>> has_words_head("minilm")
    False
    """
    checkpoint = name if isinstance(name, Checkpoint) else locate(name, revision=revision, remote_code=remote_code)
    return _predicts_words(checkpoint.config.get("architectures"))


def _predicts_words(architectures: object) -> bool:
    return bool(
        isinstance(architectures, list)
        and architectures
        and architectures[0] in MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()
    )
