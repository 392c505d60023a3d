"""Observe and change attention: one attention function, and its mask, registered with transformers.

The function computes attention in blocks of queries and shows each block's probabilities to the observer
and the interventions of the surrounding `observed`; no map is ever whole in memory. Numerically it is
transformers' eager attention: softmax in float32 (of double precision in double), dropout off.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headscope.capture.attention_mask import block_mask, lazy_mask, mask_block
from headscope.capture.fast_attention import fast_attention
from headscope.capture.key_ranges import key_ranges, ranged_blocks
from headscope.capture.observer import Intervention, Observer
from headscope.capture.softmax import exact_softmax, shifted
from headscope.capture.spread import home
from headscope.capture.watch import (
    PassWatch,
    Watches,
    by_ranges,
    change,
    count,
    current,
    during_forward,
    show,
    statistics_of,
    watching,
)

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
) -> Iterator[PassWatch]:
    """Within this context a forward pass shows its attention to `look`; afterwards the model is as before.

    `name` is a key of `MASKS`: how masks are made; `changes` says that `look` is an intervention.
    """
    before = network.config._attn_implementation or "eager"
    watch = PassWatch(look, changes, home(network))
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
    scale = width**-0.5 if scaling is None else scaling
    if statistics := statistics_of(watches):
        biases = {"position bias": position_bias, "mask": attention_mask}
        output = statistics.attend(query, key, value, scale, softcap, biases)
        count(watches)
        return output, None
    ranged = by_ranges(watches)
    if ranged and not any(watch.changes for watch in watches) and not torch.is_grad_enabled():
        output = fast_attention(
            query, key, value, scale, softcap, position_bias, attention_mask, partial(show, watches)
        )
        count(watches)
        return output, None
    biases = [bias for bias in (position_bias, attention_mask) if bias is not None]
    output = value.new_empty(examples_, length, heads_, value.shape[-1])
    shape = (examples_, heads_, length, key.shape[2])
    ranges = key_ranges(attention_mask, examples_, *shape[2:]) if ranged else None
    for examples, heads, queries, keys in ranged_blocks(ranges, *shape, query.device, some_heads=False):
        scores = shifted(block_scores(query, key, scale, softcap, biases, (examples, heads, queries, keys)))
        attention, entropy = exact_softmax(scores)
        changed = change(watches, attention, examples, queries, scores)
        # [example, query, head, value_width]
        output[examples, queries] = by_key_head(changed.to(value.dtype), value[examples, :, keys]).transpose(1, 2)
        show(watches, changed, examples, queries, entropy if changed is attention else None, heads, keys)
    count(watches)
    return output, None


def block_scores(
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example key_head key width"],
    scale: float,
    softcap: float | None,
    biases: Iterable[Tensor],
    block: tuple[slice, slice, slice, slice],
) -> Float[Tensor, "example head query key"]:
    """The scores of a block of all heads (examples, heads, queries, keys), in float32 at least, with their biases."""
    examples, heads, queries, keys = block
    scores = by_key_head(query[examples, :, queries], key[examples, :, keys].mT)
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32)).mul_(scale)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    for bias in biases:
        scores += mask_block(bias, examples, queries, heads, keys)
    return scores


def by_key_head(
    rows: Float[Tensor, "example head row inner"], states: Float[Tensor, "example key_head inner outer"]
) -> Float[Tensor, "example head row outer"]:
    """The product of each head's rows and the states that it shares with its group, which are not copied."""
    (examples, heads, number, inner), key_heads = rows.shape, states.shape[1]
    if heads == key_heads:
        return rows @ states
    together = rows.reshape(examples, key_heads, heads // key_heads * number, inner) @ states
    return together.view(examples, heads, number, states.shape[-1])


def for_each_head(states: Tensor, heads: int, dim: int) -> Tensor:
    """Keys, values or their weights once for each of the heads that share them; not copied where none does."""
    group = heads // max(1, states.shape[dim])
    return states if group == 1 else states.repeat_interleave(group, dim=dim)


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
