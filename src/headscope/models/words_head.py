"""Heads that predict words: masked ones from both sides, or the next one."""

from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.masked_lm import has_masked_lm_head
from headscope.models.model import Model

CAUSAL = frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())


def is_causal(network: PreTrainedModel) -> bool:
    """True for a network with a head for the next word."""
    return type(network).__name__ in CAUSAL and not has_masked_lm_head(network)


def predicts_words(checkpoint: Checkpoint) -> bool:
    """True if the first architecture of a checkpoint has a head for masked or next words."""
    named = checkpoint.config.get("architectures")
    first = named[0] if isinstance(named, list) and named else None
    return first in CAUSAL or first in MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()


def refuse_without_words_head(model: Model) -> None:
    """Raise `HeadscopeError` if a model predicts neither masked nor next words, or has no mask to predict behind."""
    network, kind = model.network, type(model.network).__name__
    if not (has_masked_lm_head(network) or is_causal(network)):
        raise HeadscopeError(
            f"model '{model.name}' is a {kind}, without a head that predicts words; train one with "
            "'headscope pretrain-head', or name a model with a masked-language or causal head"
        )
    if not is_causal(network) and not isinstance(model.tokenizer.mask_token_id, int):
        raise HeadscopeError(f"model '{model.name}': its tokenizer has no mask; save the model's own tokenizer with it")
