"""Observe and change attention: one attention function, and its mask, registered with transformers.

The function computes attention in blocks of queries and shows each block's probabilities to the observer
and the interventions of the surrounding `observed`; no map is ever whole in memory. Numerically it is
transformers' eager attention: softmax in float32 (of double precision in double), dropout off.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headscope.capture.attention_mask import block_mask, lazy_mask, mask_block
from headscope.capture.fast_attention import fast_attention
from headscope.capture.observer import Intervention, Observer, blocks
from headscope.capture.softmax import exact_softmax, shifted
from headscope.capture.spread import home
from headscope.capture.watch import Watch, Watches, change, count, current, during_forward, show, some_heads, watching

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
    "token_type_ids",
    "use_cache",
}


@contextmanager
def observed(
    network: PreTrainedModel, look: Observer | Intervention, name: str = NAME, *, changes: bool = False
) -> Iterator[Watch]:
    """Within this context a forward pass shows its attention to `look`; afterwards the model is as before.

    `name` is a key of `MASKS`: how masks are made; `changes` says that `look` is an intervention.
    """
    before = network.config._attn_implementation or "eager"
    watch = Watch(look, changes, home(network))
    with during_forward(network, lambda inputs: watching(watch)):
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
    """Attention as transformers' eager functions compute it, shown and changed block by block.

    Raises `RuntimeError` outside `observed`, `NotImplementedError` for a keyword that it would ignore.
    """
    watches = _watches(keywords)
    examples_, heads_, length, width = query.shape
    groups = heads_ // max(1, key.shape[1])
    key, value = (states.repeat_interleave(groups, dim=1) if groups > 1 else states for states in (key, value))
    scale = width**-0.5 if scaling is None else scaling
    biases = [bias for bias in (position_bias, attention_mask) if bias is not None]
    if some_heads(watches) and not torch.is_grad_enabled():
        output = fast_attention(
            query, key, value, scale, softcap, biases, attention_mask, partial(show, watches, length=key.shape[2])
        )
        count(watches)
        return output, None
    output = value.new_empty(examples_, length, heads_, value.shape[-1])
    shape = (examples_, heads_, length, key.shape[2])
    for examples, heads, queries in blocks(*shape, query.device):
        scores = query[examples, heads, queries] @ key[examples, heads].mT
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32)).mul_(scale)
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        for bias in biases:
            scores += mask_block(bias, examples, queries, heads)
        scores = shifted(scores)
        attention, entropy = exact_softmax(scores)
        changed = change(watches, attention, examples, queries, scores)
        # [example, query, head, value_width]
        output[examples, queries, heads] = (changed.to(value.dtype) @ value[examples, heads]).transpose(1, 2)
        show(watches, changed, examples, queries, entropy if changed is attention else None, heads)
    count(watches)
    return output, None


def _watches(keywords: dict[str, object]) -> Watches:
    watches = current()
    if not watches:
        raise RuntimeError(f"attention implementation '{NAME}' works only when a model is called within `observed`")
    refuse_unknown(keywords)
    return watches


def refuse_unknown(keywords: Mapping[str, object]) -> None:
    """Raise `NotImplementedError` for a keyword that an attention function would ignore."""
    if unknown := [name for name, value in keywords.items() if value is not None and name not in HARMLESS]:
        raise NotImplementedError(f"attention is called with {unknown}, which would be ignored")


for _name, _mask in MASKS.items():
    AttentionInterface.register(_name, attend)
    AttentionMaskInterface.register(_name, _mask)
