"""Plain forward passes with the fastest exact attention that a model has: nothing is looked at."""

from collections.abc import Iterator
from contextlib import contextmanager

from transformers import PreTrainedModel


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
