"""Whether what a network computes at a token changes with later tokens, tried on a short input."""

import torch
from transformers import PreTrainedModel

from headscope.capture.eager import short_input
from headscope.capture.self_check import CLOSE
from headscope.capture.transformers_logging import quiet


def changes_with_later_tokens(network: PreTrainedModel) -> bool:
    """Whether earlier states of a short input change where later tokens are others.

    >>> from headscope import load
    >>> changes_with_later_tokens(load("minilm").network)
    True
    """
    inputs = short_input(network)
    ids, half = inputs["input_ids"], inputs["input_ids"].shape[1] // 2
    others = torch.cat([ids[:, :half], ids[:, : ids.shape[1] - half]], dim=1)
    with torch.inference_mode(), quiet():
        # [token, width] of the first half
        before, after = (network.base_model(**inputs | {"input_ids": read})[0][0, :half] for read in (ids, others))
    # Experts that get other tokens round in another way.
    return bool((after - before).abs().max() > CLOSE[network.dtype] * before.abs().max().clamp_min(1))
