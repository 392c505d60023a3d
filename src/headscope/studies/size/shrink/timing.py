"""What is timed: forward passes over batches of some shapes, numbers of examples and of tokens."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headscope.models import Model
from headscope.models.embedding_width import embedding_width
from headscope.outputs.size_and_speed import megabytes, parameters, seconds_by_round
from headscope.studies.size.shrink.sizes import Size

Shapes = tuple[tuple[int, int], ...]
ROUNDS = 8
# Batches of so many inputs are timed, of the median length and that of the longest of twenty texts.
BATCHES, LEVELS = (1, 32), (0.5, 0.95)


def by_round(shapes: Shapes, models: Sequence[Model], rounds: int = ROUNDS) -> Float[np.ndarray, "round shape model"]:
    """Seconds of a forward pass of each model in each round but the first; models take turns."""
    seconds = [seconds_by_round([*models], *shape, rounds) for shape in shapes]
    return np.array(seconds).transpose(2, 0, 1)


def times_as_fast(seconds: Float[np.ndarray, "round shape before_and_after"]) -> tuple[float, float, float]:
    """How many times as fast the second of two models is, and the least and the most of all rounds.

    Turned over is the mean share of time over the shapes, by the medians. The range of 7 rounds is a 98% interval of a
    median, as far as the rounds are independent.

    >>> times_as_fast(np.array([[[2.0, 1.0]], [[4.0, 1.0]], [[3.0, 1.0]]]))
    (3.0, 2.0, 4.0)
    """
    of_rounds = 1 / (seconds[:, :, 1] / seconds[:, :, 0]).mean(1)
    typical = np.median(seconds, 0)
    return float(1 / (typical[:, 1] / typical[:, 0]).mean()), float(of_rounds.min()), float(of_rounds.max())


def busy() -> str:
    """That other programs have the processor, in words; empty if they have less than half of it, or it is not known."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    others = load - min(torch.get_num_threads(), cores)
    return f"The machine was busy: a load of {load:.1f} on {cores} cores." if others > cores / 2 else ""


def shapes_of(lengths: Sequence[int], most: int) -> Shapes:
    """The timed shapes for texts of some lengths, of which a model reads so many tokens at most."""
    tokens = sorted({int(np.quantile(lengths, level)) for level in LEVELS})
    return tuple((batch, min(length, most)) for batch in BATCHES for length in tokens)


def sizes_and_times(
    model: Model, smaller: Model, shapes: Shapes, sizes: tuple[Size, Size], *, fine: bool
) -> dict[str, Any]:
    """Parameters, megabytes, parts and milliseconds of the whole model and of the saved one.

    With `fine`, where layers differ, neurons and heads are those of all layers, else of a layer.
    """
    both, (first, last) = (model, smaller), sizes
    counted = [tuple(map(sum if fine else max, zip(*size.by_layer, strict=True))) for size in sizes]
    neurons, heads = zip(*counted, strict=True)
    gone = [layer + 1 for layer in first.layers if layer not in last.layers]
    was_busy, seconds = busy(), by_round(shapes, both)
    return {
        "parameters": [parameters(one) for one in both],
        "megabytes": [megabytes(one) for one in both],
        "pieces": [one.network.config.get_text_config().vocab_size for one in both],
        "layers": [len(first.layers), len(last.layers)],
        "neurons": neurons,
        "heads": heads,
        "embedding_width": [embedding_width(one) for one in both],
        "model_class": [type(one.network).__name__ for one in both],
        **({"fine": {"removed_layers": gone}} if fine else {}),
        "timed": [
            {"examples": examples, "tokens": tokens, "before": 1000 * before, "after": 1000 * after}
            for (examples, tokens), (before, after) in zip(shapes, np.median(seconds, 0).tolist(), strict=True)
        ],
        "times_as_fast": times_as_fast(seconds),
        "busy": was_busy,
    }
