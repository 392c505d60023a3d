"""Models of one size whose parts are chosen otherwise: by the length of their weights, or at random."""

from collections.abc import Iterator, Sequence
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
from headscope.studies.size.shrink.scores import Scores
from headscope.studies.size.shrink.sizes import Size

SEARCH, WEIGHTS, RANDOM = "search", "weights", "random"
CHOICES = (SEARCH, WEIGHTS, RANDOM)
DRAWS = 5


def other_choices(original: Original, size: Size, seed: int) -> Iterator[Model]:
    """Models of a size: of the parts with the longest weights, then of random parts, drawn so often.

    * `seed`: of the draws.

    None where nothing was removed.
    """
    if size == original.size:
        return
    yield _chosen(_by_weights(original), size, _lengths(original))
    for draw in range(DRAWS):
        random = np.random.default_rng([seed, draw])
        others = _at_random(original, random)
        yield _chosen(others, size, random.random(len(original.size.layers)))


def by_method(original: Original, method: str, seed: int) -> Original:
    """The model whose neurons, heads and layers go in another order.

    * `method`: "estimate", by what they add, and layers by what their removal changes; "magnitude", shortest weights
      first; "random", in an order of the seed; "gates", see `gate_choice`.
    """
    if method in ("estimate", "gates"):
        return original
    random = np.random.default_rng([seed, DRAWS])
    others = _by_weights(original) if method == "magnitude" else _at_random(original, random)
    lengths = _lengths(original) if method == "magnitude" else random.random(len(original.size.layers))
    return replace(others, layer_order=tuple(np.argsort(lengths, kind="stable").tolist()))


def _at_random(original: Original, random: np.random.Generator) -> Original:
    """The same model, whose neurons and heads have random values."""
    neurons = [random.random(part.width) for part in original.parts.feed_forward or ()]
    return replace(original, of_neurons=neurons, of_heads=[random.random(len(values)) for values in original.of_heads])


def _chosen(others: Original, size: Size, layers: Float[np.ndarray, " layer"]) -> Model:
    """The model of a size with the layers, neurons and heads of the largest values; its output maps are fitted."""
    (kept,) = ranked([layers], len(size.layers))
    return others.cut(size.moved_to(kept, others.size if others.fine else size))


def _by_weights(original: Original) -> Original:
    """The same model, whose neurons and heads are valued by the length of the weights that write their output."""
    neurons = [_columns(part.output, part.width) for part in original.parts.feed_forward or ()]
    projections = original.model.projections if len(original.of_heads) else ()
    return replace(original, of_neurons=neurons, of_heads=[_columns(one.output, one.heads) for one in projections])


def _columns(output: object, parts: int) -> Float[np.ndarray, " part"]:
    """The squared length of the weights of each part's columns."""
    squares = written(output)[0].square().sum(0)
    return squares.reshape(parts, -1).sum(1).numpy()


def _lengths(original: Original) -> Float[np.ndarray, " layer"]:
    """The squared length of all weights of each layer."""
    layers = original.parts.stack.layers
    return np.array([sum(float(weight.detach().square().sum()) for weight in layer.parameters()) for layer in layers])


def variables(scores: Scores, units: Sequence[int]) -> dict[str, xr.DataArray]:
    """The scores of all choices, and what the search gains over the others.

    * `scores`: of the whole model, of that of the search, and of the others in their order.
    """
    few = equal_units(units)
    by_choice = np.stack([scores.values[1], scores.values[2], scores.values[3:].mean(0)])  # [choice, metric]
    drawn = np.stack([scores.drawn[:, 1], scores.drawn[:, 2], scores.drawn[:, 3:].mean(1)], axis=1)
    gain, gain_drawn = (scores.sign * (values[..., :1, 0] - values[..., 0]) for values in (by_choice, drawn))
    gain[0], gain_drawn[:, 0] = np.nan, np.nan
    made = Variables({"choice": CHOICES, "metric": scores.metrics}, STUDY.source, STUDY.labels)
    made.add("choice_score", by_choice, interval=interval(drawn, few), count=len(units))
    made.add("choice_gain", gain, interval=interval(gain_drawn, few), count=len(units))
    return made.arrays
