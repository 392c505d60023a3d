"""Observe attention: one attention function, and its mask, registered with transformers.

The function computes attention in blocks of queries and shows each block's probabilities to the observer
of the surrounding `observed`; no map is ever whole in memory. Numerically it is transformers' eager
attention: softmax in float32, dropout off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headscope.models.observer import Observer, blocks

# Substrings such as "sdpa" or "flash" would make transformers treat the function as one of its own.
NAME = "headscope"
# Keywords that change nothing here: the mask already says what they say, or they are about training.
HARMLESS = {"is_causal", "sliding_window", "deterministic", "output_attentions", "position_ids", "use_cache"}
# A mask up to this many elements is made whole; a larger one is made as the blocks need it.
WHOLE_MASK = 1024 * 1024


@dataclass
class Watch:
    """The observer of a forward pass, and how many layers it has seen."""

    observer: Observer
    calls: int = 0


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def observed(network: PreTrainedModel, observer: Observer) -> Iterator[Watch]:
    """Within this context a forward pass shows its attention to `observer`; afterwards the model is as before."""
    before = network.config._attn_implementation
    watch = Watch(observer)
    token = _watch.set(watch)
    try:
        network.set_attn_implementation(NAME)
        yield watch
    finally:
        _watch.reset(token)
        network.set_attn_implementation(before)


def attend(
    module: nn.Module,
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example key_head key width"],
    value: Float[Tensor, "example key_head key value_width"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    *,
    softcap: float | None = None,
    position_bias: Float[Tensor, "example head query key"] | None = None,
    **keywords: object,
) -> tuple[Float[Tensor, "example query head value_width"], None]:
    """Attention as transformers' eager functions compute it, shown to the observer block by block."""
    watch = _start(keywords)
    groups = query.shape[1] // key.shape[1]
    key, value = (states.repeat_interleave(groups, dim=1) if groups > 1 else states for states in (key, value))
    query = query * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    output = value.new_empty(query.shape[0], query.shape[2], query.shape[1], value.shape[-1])
    for examples, queries in blocks(*query.shape[:3], key.shape[2]):
        scores = query[examples, :, queries] @ key[examples].mT
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        for bias in (position_bias, attention_mask):
            if bias is not None:
                scores += _block(bias, examples, queries)
        attention = scores.softmax(-1, dtype=torch.float32)
        output[examples, queries] = (attention.to(value.dtype) @ value[examples]).transpose(1, 2)
        watch.observer(watch.calls, attention, examples, queries)
    watch.calls += 1
    return output, None


def _start(keywords: dict[str, object]) -> Watch:
    watch = _watch.get()
    if watch is None:
        raise RuntimeError("attention implementation 'headscope' works only within headscope.models.observed")
    if unknown := [name for name, value in keywords.items() if value is not None and name not in HARMLESS]:
        raise NotImplementedError(f"attention is called with {unknown}, which would be ignored")
    return watch


def _block(bias: Tensor, examples: slice, queries: slice) -> Tensor:
    rows: Callable[[slice], Tensor] | None = getattr(bias, "rows", None)
    bias, queries = (bias, queries) if rows is None else (rows(queries), slice(None))
    examples = examples if bias.shape[0] > 1 else slice(None)
    return bias[examples, :, queries if bias.shape[2] > 1 else slice(None)]


def block_mask(
    batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, **keywords: object
) -> Float[Tensor, "example 1 query key"] | None:
    """transformers' eager mask; for long inputs one whose rows are made when they are needed.

    The long one has the shape of the whole mask but no memory: it is NaN everywhere, so that a model
    that reads it in another way than through `attend` cannot go unnoticed.
    """

    def rows(queries: slice) -> Tensor:
        length = queries.stop - queries.start
        return eager_mask(batch_size, length, kv_length, q_offset + queries.start, **(keywords | {"allow_is_bidirectional_skip": False}))

    if q_length * kv_length <= WHOLE_MASK:
        return eager_mask(batch_size, q_length, kv_length, q_offset, **keywords)
    if eager_mask(batch_size, 1, kv_length, q_offset, **keywords) is None:
        return None
    mask = torch.full((), torch.nan, dtype=keywords["dtype"], device=keywords["device"])
    mask = mask.expand(batch_size, 1, q_length, kv_length)
    mask.rows = rows
    return mask


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, block_mask)
