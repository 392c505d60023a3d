"""Work and its time: plain forward passes, and seconds of the processor."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch

from headscope import Model
from headscope.capture.attention_switch import fast
from headscope.encoding.batch import Batch

Value = TypeVar("Value")


def timed(work: Callable[[], Value]) -> tuple[float, Value]:
    """Returns: seconds of the processor, and the value."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def plain_passes(model: Model, batches: Iterable[Batch]) -> None:
    """The forward pass (sdpa) of each batch, without analysis."""
    with torch.inference_mode(), fast(model.network):
        for batch in batches:
            model.network(**batch.inputs)
