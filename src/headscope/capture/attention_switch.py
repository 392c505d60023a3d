"""Attention by torch's fused kernels, the fastest that is exact for a model; or replaced by layer within a context."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward as fused
from transformers.masking_utils import sdpa_mask

from headscope.capture.interventions import Contexts
from headscope.capture.layer_stack import instead
from headscope.capture.projections import Projections
from headscope.capture.self_check import CLOSE

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
    """Empty attention, where no result is read."""
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


Computation = TypeVar("Computation")
States = Float[Tensor, "example token width"]


def first_exact(
    makers: Iterable[Callable[[], Computation]],
    trial: Callable[[Computation], Tensor],
    exact: Computation,
    dtype: torch.dtype,
) -> tuple[Computation, str]:
    """The first computation that equals the full one on a trial; the full one if none does.

    * `makers`: make the computations, the fastest first; one that does not fit the model raises an error.
    * `dtype`: of the network's weights, which says how close values must be.

    Returns: the computation, and why it is not one before; "" if there was none.

    >>> twice, whole = lambda values: 2 * values, lambda values: values + values
    >>> trial = lambda compute: compute(torch.ones(3))
    >>> found, reason = first_exact([lambda: torch.sqrt, lambda: twice], trial, whole, torch.float32)
    >>> found is twice, reason
    (True, 'outputs would differ by 1.0e+00')
    """
    expected, reason = trial(exact), ""
    close = CLOSE[dtype] * max(1.0, float(expected.abs().max()))
    for make in makers:
        try:
            computation = make()
            values = trial(computation)
            furthest = float((values - expected).abs().max())
        except Exception as error:  # layers of some models cannot be called like this, and raise whatever they like
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        if values.shape == expected.shape and furthest <= close:
            return computation, reason
        reason = f"outputs would differ by {furthest:.1e}"
    return exact, reason


@contextmanager
def first_layer_once(projections: Projections, ids: Int[np.ndarray, "example token"]) -> Iterator[None]:
    """Within this context and for the inputs `ids`, these maps are applied to one token of each piece and position.

    Masked copies of a text differ in few tokens, so that most queries, keys and values of the first layer are the same.
    It is exact where what these are made from depends on the piece and the position alone; the caller has to check it.
    """
    tokens = ids.shape[1]
    _, first, inverse = np.unique(ids * tokens + np.arange(tokens), return_index=True, return_inverse=True)
    chosen, indices = torch.from_numpy(first), torch.from_numpy(inverse.reshape(ids.shape))

    def once(forward: Callable[[Tensor], Tensor], states: States) -> States:
        if states.shape[:2] != ids.shape:  # such as embeddings of relative positions
            return forward(states)
        # [example, token, width] -> [example_token, width] -> [example, token, output]
        return forward(states.flatten(0, 1)[chosen])[indices]

    maps = {projections.query, projections.key, projections.value}
    with instead({module: partial(once, module.forward) for module in maps}):
        yield
