"""Detection of a head for masked words, by the names of the classes in transformers."""

from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headscope.models.checkpoint import Checkpoint, locate


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
