"""Observe attention: one attention function, and its mask, registered with transformers.

The function computes attention in blocks of queries and shows each block's probabilities to the observer
of the surrounding `observed`; no map is ever whole in memory. Numerically it is transformers' eager
attention: softmax in float32, dropout off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headscope.models.mask import block_mask, lazy_mask, mask_block
from headscope.models.observer import Observer, blocks
from headscope.models.watch import Watch, during_forward

# Substrings such as "sdpa" or "flash" would make transformers treat the function as one of its own.
NAME, LAZY, WHOLE = "headscope", "headscope-lazy", "headscope-whole"
MASKS = {NAME: block_mask, LAZY: lazy_mask, WHOLE: eager_mask}
# Keywords that change nothing here: the mask already says what they say, or they are about training and caching.
HARMLESS = {
    "is_causal",
    "sliding_window",
    "deterministic",
    "dropout",
    "output_attentions",
    "position_ids",
    "use_cache",
}

# The exponential of this is 0 in float32.
MASKED = -1e4

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def observed(network: PreTrainedModel, observer: Observer, name: str = NAME) -> Iterator[Watch]:
    """Within this context a forward pass shows its attention to `observer`; afterwards the model is as before.

    `name` is a key of `MASKS`: how masks are made.
    """
    before = network.config._attn_implementation or "eager"
    watch = Watch(observer)
    with during_forward(network, lambda inputs: _watching(watch)):
        try:
            network.set_attn_implementation(name)
            yield watch
        finally:
            network.set_attn_implementation(before)


def attend(
    module: nn.Module,
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example key_head key width"],
    value: Float[Tensor, "example key_head key value_width"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    *,
    softcap: float | None = None,
    position_bias: Float[Tensor, "example head query key"] | None = None,
    **keywords: object,
) -> tuple[Float[Tensor, "example query head value_width"], None]:
    """Attention as transformers' eager functions compute it, shown to the observer block by block.

    Raises `RuntimeError` outside `observed`, `NotImplementedError` for a keyword that it would ignore.
    """
    watch = _current(keywords)
    examples_, heads, length, width = query.shape
    groups = heads // key.shape[1]
    key, value = (states.repeat_interleave(groups, dim=1) if groups > 1 else states for states in (key, value))
    masked = attention_mask is not None or position_bias is not None
    output = value.new_empty(examples_, length, heads, value.shape[-1])
    for examples, queries in blocks(examples_, heads, length, key.shape[2]):
        scores = query[examples, :, queries] @ key[examples].mT
        scores *= width**-0.5 if scaling is None else scaling
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        for bias in (position_bias, attention_mask):
            if bias is not None:
                scores += mask_block(bias, examples, queries)
        scores = _shifted(scores, masked)
        attention = scores.softmax(-1)
        output[examples, queries] = (attention.to(value.dtype) @ value[examples]).transpose(1, 2)
        watch.observer(watch.calls, attention, examples, queries, scores)
    watch.calls += 1
    return output, None


def _shifted(scores: Tensor, masked: bool) -> Float[Tensor, "example head query key"]:
    """The scores in float32, less the largest of each row; masked ones are finite, so that 0 times them is 0."""
    scores = scores.to(torch.float32)
    scores -= scores.detach().amax(-1, keepdim=True)
    return scores.clamp_min_(MASKED) if masked else scores


@contextmanager
def _watching(watch: Watch) -> Iterator[None]:
    watch.calls = 0
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def _current(keywords: dict[str, object]) -> Watch:
    watch = _watch.get()
    if watch is None:
        raise RuntimeError(f"attention implementation '{NAME}' works only when a model is called within `observed`")
    if unknown := [name for name, value in keywords.items() if value is not None and name not in HARMLESS]:
        raise NotImplementedError(f"attention is called with {unknown}, which would be ignored")
    return watch


for _name, _mask in MASKS.items():
    AttentionInterface.register(_name, attend)
    AttentionMaskInterface.register(_name, _mask)
