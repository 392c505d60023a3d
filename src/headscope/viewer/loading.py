"""Load a model for the viewer, with the head that makes predictions, and limit the time of its forward passes."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torch import nn
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)

from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config
from headscope.training.steps import step_models

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


class TimeUp(HeadscopeError):
    """A forward pass that took longer than its limit."""


@contextmanager
def time_limit(network: nn.Module, seconds: float) -> Iterator[None]:
    """Within this context a forward pass that takes longer ends with `TimeUp`, before the next module inside."""
    end = time.monotonic() + seconds

    def check(module: nn.Module, args: object) -> None:
        if time.monotonic() > end:
            raise TimeUp(f"the model took longer than {seconds:g} s; use a shorter text, or a smaller corpus")

    # Not the network itself: contexts around a pass are entered in its hooks, and must be left again.
    handles = [module.register_forward_pre_hook(check) for module in network.modules() if module is not network]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def steps_of(folder: str, loading: Mapping[str, Any]) -> tuple[str, tuple[Model, ...], Callable[[int], None]]:
    """The name of a training, the models of its steps, and a function to call with a model's number before it runs.

    All steps after the start share one network, so that memory holds two, whatever the number of steps.

    Raises `HeadscopeError` if the folder holds no kept steps.
    """
    opened = step_models([folder], loading, head=True)

    def prepare(number: int) -> None:
        if number:
            opened.open(number)

    later = [replace(opened.open(at), name=f"step {opened.numbers[at]}") for at in range(1, len(opened.numbers))]
    return opened.title, (replace(opened.start, name="start"), *later), prepare
