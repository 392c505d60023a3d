"""Attention by torch's fused kernels, the fastest that is exact; or replaced layer by layer within a context."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jaxtyping import Bool
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward as fused
from transformers.masking_utils import sdpa_mask

from headscope.capture.replacements import Contexts

NAME = "headscope-switch"
# As transformers calls it: module, query, key, value, attention_mask, and keywords.
Attend = Callable[..., tuple[Contexts, None]]

_attend: ContextVar[Attend] = ContextVar("attend", default=fused)


@contextmanager
def switchable(network: PreTrainedModel) -> Iterator[None]:
    """Within this context the network attends as `attending` says; no keys are cached between passes."""
    before = network.config._attn_implementation or "eager"
    with uncached(network):
        try:
            network.set_attn_implementation(NAME)
            yield
        finally:
            network.set_attn_implementation(before)


@contextmanager
def uncached(network: PreTrainedModel) -> Iterator[None]:
    """Within this context no keys are cached between passes."""
    config: Any = network.config
    cached = getattr(config, "use_cache", None)
    try:
        config.use_cache = False
        yield
    finally:
        config.use_cache = cached


@contextmanager
def attending(attend: Attend) -> Iterator[None]:
    """Within this context layers attend in this way."""
    token = _attend.set(attend)
    try:
        yield
    finally:
        _attend.reset(token)


def nothing(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> tuple[Contexts, None]:
    """Attention whose result nobody reads."""
    examples, heads, queries, _width = query.shape
    return query.new_empty(examples, queries, heads, value.shape[-1]), None


def _mask(*arguments: Any, **keywords: Any) -> Bool[Tensor, "example 1 query key"] | None:
    """The mask of the fused kernel; None only where every query sees every key, never because the kernel is causal."""
    return sdpa_mask(*arguments, **keywords | {"allow_is_causal_skip": False})


AttentionInterface.register(NAME, lambda *arguments, **keywords: _attend.get()(*arguments, **keywords))
AttentionMaskInterface.register(NAME, _mask)


@contextmanager
def fast(network: PreTrainedModel) -> Iterator[None]:
    """Within this context the network computes attention by torch's fused kernels, where it knows how to."""
    before = network.config._attn_implementation or "eager"
    if before != "eager" or not getattr(network, "_supports_sdpa", False):
        yield
        return
    try:
        network.set_attn_implementation("sdpa")
        yield
    finally:
        network.set_attn_implementation(before)
