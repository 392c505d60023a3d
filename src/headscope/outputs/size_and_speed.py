"""Size of a model in megabytes and multiplications, and the seconds of its forward passes on this machine."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from statistics import median
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.models.head_slicing import sizes
from headscope.models.model import Model
from headscope.models.onnx import first_output

Shapes = tuple[tuple[int, int], ...]
# Shape of the timed input, and rounds of timing; the first warms up.
BATCH, TOKENS, ROUNDS = 8, 128, 8


def parameters(model: Model) -> int:
    """Number of parameters; those that are shared count once."""
    return sum(weight.numel() for weight in model.network.parameters())


def megabytes(model: Model) -> float:
    """Size of all parameters in megabytes (10^6 bytes)."""
    return sum(weight.numel() * weight.element_size() for weight in model.network.parameters()) / 1e6


def multiplications(model: Model, tokens: int = TOKENS) -> float:
    """Multiplications per token in the layers, by linear maps and attention, for an input of `tokens` tokens.

    Raises `HeadscopeError` for a model whose linear maps of attention cannot be identified.
    """
    layers = [module for module in model.network.modules() if isinstance(module, torch.nn.ModuleList)]
    weights = sum(weight.numel() for layer in layers for weight in layer.parameters() if weight.ndim == 2)
    return weights + 2.0 * tokens * sum(projection.heads * projection.width for projection in model.projections)


def cache_bytes(model: Model) -> int:
    """Bytes of the keys and values of a token in all layers, in the number format of the model.

    Raises `HeadscopeError` for a model whose linear maps of attention cannot be identified.
    """
    numbers = 0
    for layer in model.projections:
        maps = {layer.query, layer.key, layer.value}  # one where they are fused
        numbers += sum(sizes(linear)[1] for linear in maps) - layer.heads * layer.width
    return numbers * model.network.dtype.itemsize


def forward_seconds(models: list[Model]) -> list[float]:
    """Median seconds of a forward pass of each model, for random tokens without padding; models take turns."""
    return np.median(seconds_by_round(models, ((BATCH, TOKENS),))[:, 0], axis=0).tolist()


def seconds_by_round(models: Sequence[Model], shapes: Shapes) -> Float[np.ndarray, "round shape model"]:
    """Seconds of a pass of each model, for random tokens of each shape (inputs, tokens); models take turns."""
    smallest = min(models, key=lambda model: model.network.config.get_text_config().vocab_size)
    most, seconds = min(model.max_tokens for model in models), []
    for batch, tokens in shapes:
        ids = random_tokens(smallest, batch, min(tokens, most))
        seconds.append(by_round([partial(pass_seconds, model, ids.to(model.device)) for model in models], ROUNDS))
    return np.array(seconds).transpose(2, 0, 1)


def by_round(timed: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Seconds of functions that take turns, each by round; the first round warms up and is left out.

    >>> by_round([iter([9.0, 1.0, 3.0]).__next__], 3)
    [[1.0, 3.0]]
    """
    seconds = [[call() for call in timed] for _ in range(rounds)]
    return [list(rounds_of_call) for rounds_of_call in zip(*seconds[1:], strict=True)]


def random_tokens(model: Model, batch: int, tokens: int) -> Int[torch.Tensor, "example token"]:
    """Seeded random tokens of a model's vocabulary, without padding."""
    vocabulary = model.network.config.get_text_config().vocab_size
    return torch.randint(5, vocabulary, (batch, tokens), generator=torch.Generator().manual_seed(0))


@torch.inference_mode()
def pass_seconds(model: Model, ids: Int[torch.Tensor, "example token"]) -> float:
    """Seconds of one forward pass, by the fastest attention; of next words the last alone, as for generated text."""
    last = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.network.forward).parameters else {}
    start = time.perf_counter()
    with fast(model.network):
        model.network(input_ids=ids, attention_mask=torch.ones_like(ids), **last)
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return time.perf_counter() - start


def file_seconds(sessions: Sequence[Any], ids: Tensor) -> list[float]:
    """Median seconds of a pass of each file over the same tokens without padding; files take turns."""
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def seconds(session: Any) -> float:
        start = time.perf_counter()
        first_output(session, inputs)
        return time.perf_counter() - start

    return list(map(median, by_round([partial(seconds, session) for session in sessions], ROUNDS)))
