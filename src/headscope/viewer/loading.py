"""Load a model for the viewer: with the head that makes predictions, if it has one."""

from typing import Any

from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)

from headscope.models import Model, load
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config

MAPPINGS = (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)
HEADS = {name for mapping in MAPPINGS for name in mapping.values()}


def load_with_head(checkpoint: Checkpoint, *, remote_code: bool = False, **loading: Any) -> Model:
    """Load a model with its head for masked words, for the next word or for classes; without it where there is none.

    The encoder of an encoder-decoder has no head of its own. See `load` for the arguments.
    """
    named = checkpoint.config.get("architectures") or [None]
    config = load_config(checkpoint, remote_code=remote_code)
    head = isinstance(named, list) and named[0] in HEADS and not getattr(config, "is_encoder_decoder", False)
    return load(checkpoint, head=head, remote_code=remote_code, **loading)
