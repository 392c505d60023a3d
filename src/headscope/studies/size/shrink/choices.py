"""Models of one size whose parts are chosen otherwise: by the length of their weights, or at random."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.models import Model
from headscope.results.variables import Variables
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.moments import ranked, written
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.scores import Scores

SEARCH, WEIGHTS, RANDOM = "search", "weights", "random"
CHOICES = (SEARCH, WEIGHTS, RANDOM)
DRAWS = 5


def other_choices(original: Original, size: Size, seed: int) -> Iterator[Model]:
    """Models of a size: of the parts with the longest weights, then of random parts; none for the whole size."""
    for choice, draws in ((WEIGHTS, 1), (RANDOM, DRAWS)) if size != original.size else ():
        for draw in range(draws):
            others, layers = _valued(original, choice, np.random.default_rng([seed, draw]))
            (kept,) = ranked([layers], [len(size.layers)])
            yield others.cut(size.moved_to(kept, others.size if others.fine else size))


def _valued(
    original: Original, choice: str, random: np.random.Generator
) -> tuple[Original, Float[np.ndarray, " layer"]]:
    """The same model with other values of its neurons and heads, and the values of its layers.

    * `choice`: by the squared length of the weights that write their output (of a layer: of all weights), or random.
    """
    maps, layers = original.parts.feed_forward or (), original.parts.stack.layers
    if choice == WEIGHTS:
        neurons = [_columns(part.output, part.width) for part in maps]
        projections = original.model.projections if len(original.of_heads) else ()
        heads = [_columns(projection.output, projection.heads) for projection in projections]
        squares = [sum(float(weight.detach().square().sum()) for weight in layer.parameters()) for layer in layers]
        return replace(original, of_neurons=neurons, of_heads=heads), np.array(squares)
    neurons = [random.random(part.width) for part in maps]
    heads = [random.random(len(values)) for values in original.of_heads]
    return replace(original, of_neurons=neurons, of_heads=heads), random.random(len(layers))


def _columns(output: object, parts: int) -> Float[np.ndarray, " part"]:
    """The squared length of the weights of each part's columns."""
    squares = written(output)[0].square().sum(0)
    return squares.reshape(parts, -1).sum(1).numpy()


def variables(scores: Scores) -> dict[str, xr.DataArray]:
    """The scores of all choices, and what the search gains over the others.

    * `scores`: of the whole model, of that of the search, and of the others in their order.
    """
    few, count = equal_units(scores.units), len(scores.units)
    by_choice = np.stack([*scores.values[1:3], scores.values[3:].mean(0)])  # [choice, metric]
    drawn = np.concatenate([scores.drawn[:, 1:3], scores.drawn[:, 3:].mean(1, keepdims=True)], axis=1)
    gain, gain_drawn = (scores.sign * (values[..., :1, 0] - values[..., 0]) for values in (by_choice, drawn))
    gain[0], gain_drawn[:, 0] = np.nan, np.nan
    added = Variables({"choice": CHOICES, "metric": scores.metrics}, STUDY.source, STUDY.labels)
    added.add("choice_score", by_choice, interval=interval(drawn, few), count=count)
    added.add("choice_gain", gain, interval=interval(gain_drawn, few), count=count)
    return added.arrays
