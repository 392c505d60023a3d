"""Gates as a way to choose within a search: they open in the order of their `log_alpha`, as the target allows."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.studies.size.shrink.expected_price import ExpectedPrice, gates_of, part_megabytes
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.record import Step
from headscope.studies.size.shrink.search import SizeSearch, unmet
from headscope.studies.size.shrink.sizes import Size

LogAlphas = Mapping[str, Float[np.ndarray, "..."]]
PART = "gates"
# What two ways to add up the same bytes may differ by, as a share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class TrainedGates:
    """The model that was trained with its gates, and the `log_alpha` of each gate by its kind.

    * `excess`: the expected price at the end, as times the target; 1 where it is just met.
    * `trained_for`: `epochs` and `steps` of the training.
    """

    model: Model
    log_alphas: LogAlphas
    excess: float
    trained_for: Mapping[str, int]

    def chosen_of(self, measured: Original) -> Original:
        """A model whose neurons and heads are valued by their gates."""
        by_gates = {f"of_{kind}": list(values) for kind, values in self.log_alphas.items() if kind != "layers"}
        return replace(measured, **by_gates)

    def original(self, measured: Original) -> Original:
        """The trained model, whose neurons and heads are valued by their gates; its output maps are not fitted.

        * `measured`: the model before gates.
        """
        return replace(self.chosen_of(measured), model=self.model, moments=())


# Trains gates for a price; the second argument is the lowest that can be reached, as times the target.
Train = Callable[[ExpectedPrice, float], TrainedGates]


def gate_step(search: SizeSearch, train: Train, *, best_effort: bool) -> tuple[Step, TrainedGates]:
    """The only step of a search by gates: these are trained towards the target, and all parts go whose gates close.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted.
    """
    original = search.original
    price = ExpectedPrice(search.prices, part_megabytes(original), search.target, original.size, not original.fine)
    least = smallest(original, search.groups)
    if price.of(least) > 1 and not best_effort:
        megabytes, share = float(price.megabytes(gates_of(least))), search.prices.share(least, original.size)
        raise HeadscopeError(unmet(search, Step("", least, 0.0, 0.0, megabytes, share)))
    trained = train(price, price.of(least))
    size = chosen(trained.log_alphas, original, least, lambda some: price.of(some) <= 1 - ROUNDING)
    by_gates = trained.original(original)
    smaller = by_gates.cut(size)
    moved, alone = search.changed(smaller), search.silenced(by_gates, size)
    share = search.prices.share(size, original.size)
    return Step(PART, size, moved, alone, original.megabytes(smaller, size), share), trained


def smallest(original: Original, groups: int) -> Size:
    """The smallest size of a search: one layer, one head, and what is left of the neurons after whole groups.

    Where layers may differ no neuron stays, and of all layers but the first no head, if layers need none.
    """
    size, kinds, number = original.size, original.kinds, len(original.size.layers)
    neurons, heads = original.width, size.heads
    if "neurons" in kinds and original.moments:
        step = max(1, original.width // groups)
        neurons = original.least_neurons if original.fine else neurons - step * ((neurons - 1) // step)
    if "heads" in kinds and original.parts.heads:
        heads = (1, *[original.least_heads if original.fine else 1] * (number - 1))
    return Size(size.layers[:1] if "layers" in kinds else size.layers, (neurons,) * number, heads)


def chosen(log_alphas: LogAlphas, original: Original, least: Size, fits: Callable[[Size], bool]) -> Size:
    """The size of the lowest threshold of `log_alpha` that fits; the least one if none does."""
    thresholds = np.unique(np.concatenate([[-np.inf], *(values.ravel() for values in log_alphas.values())])).tolist()
    first = bisect_left(thresholds, True, key=lambda threshold: fits(opened(log_alphas, threshold, original, least)))
    return opened(log_alphas, thresholds[min(first, len(thresholds) - 1)], original, least)


def opened(log_alphas: LogAlphas, threshold: float, original: Original, least: Size) -> Size:
    """The size of the model whose gates above a threshold are open: one layer and one head at least stay.

    Where all layers have to keep the same numbers, these are the mean over the layers that stay.
    """
    full = original.size
    layers = np.array(full.layers)
    if "layers" in log_alphas:
        layers = np.flatnonzero(log_alphas["layers"] > threshold)
        layers = layers if len(layers) else np.array([log_alphas["layers"].argmax()])
    numbers = {"neurons": np.array(full.neurons), "heads": np.array(full.heads)}
    for kind, counts in numbers.items():
        if kind not in log_alphas:
            continue
        open_gates, fewest = (log_alphas[kind] > threshold).sum(1), min(getattr(least, kind))
        if original.fine:
            counts[layers] = np.maximum(open_gates[layers], fewest)
        else:
            counts[:] = max(fewest, round(float(open_gates[layers].mean())))
        if kind == "heads" and not counts[layers].any():
            counts[layers[log_alphas[kind][layers].max(1).argmax()]] = 1
    neurons, heads = (tuple(counts.tolist()) for counts in numbers.values())
    return Size(tuple(layers.tolist()), neurons, heads)
