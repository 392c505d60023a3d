"""Whether a model has a head that tells masked words: its name is one that transformers knows."""

from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headscope.models.checkpoint import locate


def has_masked_lm_head(network: PreTrainedModel) -> bool:
    """Whether a network has the head."""
    return _known([type(network).__name__])


def has_words_head(name: str, *, revision: str | None = None, remote_code: bool = False) -> bool:
    """Whether the first architecture that a checkpoint names has the head; see `load` for the arguments.

    Raises `HeadscopeError` if there is no such checkpoint.

    >>> has_words_head("minilm")
    False
    """
    return _known(locate(name, revision=revision, remote_code=remote_code).config.get("architectures"))


def _known(architectures: object) -> bool:
    return bool(
        isinstance(architectures, list)
        and architectures
        and architectures[0] in MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()
    )
