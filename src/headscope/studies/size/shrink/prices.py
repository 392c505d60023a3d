"""What models and their parts cost on this machine: seconds of forward passes over batches of some shapes, bytes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headscope.models import Model
from headscope.models.embedding_width import embedding_width
from headscope.models.removable_parts import Kept, parts_of
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import megabytes, parameters, seconds_by_round
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.sizes import Size

# Widths that are timed, as shares of the whole one; between them seconds are interpolated.
WIDTHS = (1.0, 0.67, 0.33, 0.08)
LEAST_SHARE = 0.001
Shapes = tuple[tuple[int, int], ...]
ROUNDS = 8
# Batches of so many inputs are timed, of the median length and that of the longest of twenty texts.
BATCHES, LEVELS = (1, 32), (0.5, 0.95)


@dataclass(frozen=True)
class Prices:
    """Seconds of a forward pass by its shape.

    * `shapes`: numbers of examples and of tokens.
    * `layers`: number of layers of the whole model; `fixed`: seconds outside of its layers.
    * `widths`: feed-forward widths in descending order; `of_width`: seconds of the whole model with each of them.
    * `of_head`: seconds of a head in a layer, 0 where no head can go.

    Under `--fine` the last width is 0, and a head costs what attention costs that can go, divided by its heads.
    """

    shapes: Shapes
    layers: int
    heads: int
    fixed: tuple[float, ...]
    widths: tuple[int, ...]
    of_width: tuple[tuple[float, ...], ...]
    of_head: tuple[float, ...]

    def seconds(self, size: Size) -> Float[np.ndarray, " shape"]:
        """Expected seconds of a forward pass of a model of a size."""
        fixed, by_layer = np.array(self.fixed), np.array(size.by_layer)  # [layer, 2]
        columns = np.array(self.of_width).T
        at_width = np.stack([np.interp(by_layer[:, 0], self.widths[::-1], column[::-1]) for column in columns], axis=1)
        layer = (at_width - fixed) / self.layers  # [layer, shape]
        layer = layer - (self.heads - by_layer[:, 1:]) * np.array(self.of_head)
        return fixed + np.maximum(layer, 0).sum(0)

    def share(self, size: Size, original: Size) -> float:
        """Expected share of the whole model's time, the mean over shapes, at least a thousandth.

        >>> prices = Prices(((1, 8),), 2, 4, (0.0,), (8, 4), ((2.0,), (1.0,)), (0.0,))
        >>> prices.share(Size((0,), (4, 4), (4, 4)), Size((0, 1), (8, 8), (4, 4)))
        0.25
        """
        # Timings of a busy machine may give all time to parts that are gone.
        return max(float((self.seconds(size) / self.seconds(original)).mean()), LEAST_SHARE)


def measure(original: Original, shapes: Shapes, rounds: int = ROUNDS) -> Prices:
    """Time models of some sizes on this machine; they take turns.

    The shortest of the rounds counts: what else the machine does only adds to a time.
    """
    size, model = original.size, original.model
    widths = (
        sorted({max(1, round(share * original.width)) for share in WIDTHS}, reverse=True) if original.moments else []
    )
    widths += [0] if original.fine and widths and not original.least_neurons else []
    models = [model, *(narrow(original, width) for width in widths[1:])]
    shallow = cut(model, Kept(layers=(0,))) if len(size.layers) > 1 else model
    few, gone = _with_few_heads(original)
    table = by_round(shapes, [*models, shallow, few], rounds).min(0).T
    # A narrower model takes no longer: what the clock says beyond that is noise.
    of_width = np.minimum.accumulate(table[: len(models)], axis=0)
    number = len(size.layers)
    layer = (of_width[0] - np.minimum(table[-2], of_width[0])) / max(number - 1, 1)
    fixed = np.maximum(of_width[0] - number * layer, 0)
    of_head = (of_width[0] - np.minimum(table[-1], of_width[0])) / max(gone, 1)
    return Prices(
        shapes,
        number,
        original.heads,
        tuple(np.minimum(fixed, of_width.min(0)).tolist()),
        tuple(widths or [original.width]),
        tuple(map(tuple, of_width.tolist())),
        tuple(of_head.tolist()),
    )


def layer_megabytes(model: Model) -> float:
    """Megabytes of the first layer of a model; all are alike."""
    layer = parts_of(model).stack.layers[0]
    return sum(weight.numel() * weight.element_size() for weight in layer.parameters()) / 1e6


def narrow(original: Original, width: int) -> Model:
    """A model of this width, whose last neurons are gone."""
    kept = Kept(neurons=(tuple(range(width)),) * len(original.size.layers))
    return cut(original.model, kept, fine=original.fine)


def _with_few_heads(original: Original) -> tuple[Model, int]:
    """A model with as few heads as its layers can have, and how many are gone in all; one head stays in any case."""
    number, before = len(original.size.layers), original.heads
    if not original.parts.heads or before == 1:
        return original.model, 0
    numbers = (original.least_heads,) * (number - 1) + (1,)
    size = replace(original.size, heads=numbers)
    return cut(original.model, original.kept(size), fine=original.fine), number * before - sum(numbers)


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
