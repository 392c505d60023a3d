"""Which parts the trained gates keep: gates open in the order of their `log_alpha`, as far as the target allows."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from headscope.models import Model
from headscope.studies.shrink.fine_size import FineSize
from headscope.studies.shrink.sizes import AnySize, Original, Size

LogAlphas = Mapping[str, Float[np.ndarray, "..."]]


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


def smallest(original: Original, groups: int) -> AnySize:
    """The smallest size of a search: one layer, one head, and what is left of the neurons after whole groups.

    Where layers may differ no neuron stays, and of all layers but the first no head, if layers need none.

    >>> from types import SimpleNamespace
    >>> size = SimpleNamespace(layers=(0, 1), width=9, heads=4)
    >>> smallest(SimpleNamespace(size=size, kinds=("layers",), moments=(), parts=None, fine=False), 2)
    Size(layers=(0,), width=9, heads=4, embeddings=0)
    """
    size, kinds = original.size, original.kinds
    step = max(1, size.width // groups)
    neurons = "neurons" in kinds and original.moments
    if original.fine:
        number, heads = len(size.layers), "heads" in kinds and original.parts.heads
        return FineSize(
            layers=size.layers[:1] if "layers" in kinds else size.layers,
            neurons=((original.least_neurons if neurons else size.width),) * number,
            heads=(1, *[original.least_heads] * (number - 1)) if heads else (size.heads,) * number,
        )
    return Size(
        layers=size.layers[:1] if "layers" in kinds else size.layers,
        width=size.width - step * ((size.width - 1) // step) if neurons else size.width,
        heads=1 if "heads" in kinds and original.parts.heads else size.heads,
    )


def chosen(log_alphas: LogAlphas, original: Size, least: AnySize, fits: Callable[[AnySize], bool]) -> AnySize:
    """The size of the lowest threshold of `log_alpha` that fits; the least one if none does.

    >>> gates = {"neurons": np.array([[3.0, 2.0, 1.0, 0.0]])}
    >>> chosen(gates, Size((0,), 4, 1), Size((0,), 1, 1), lambda size: size.width <= 2)
    Size(layers=(0,), width=2, heads=1, embeddings=0)
    """
    thresholds = np.unique(np.concatenate([[-np.inf], *(values.ravel() for values in log_alphas.values())]))
    ascending = thresholds.tolist()
    first = bisect_left(ascending, True, key=lambda threshold: fits(opened(log_alphas, threshold, original, least)))
    return opened(log_alphas, ascending[min(first, len(ascending) - 1)], original, least)


def opened(log_alphas: LogAlphas, threshold: float, original: Size, least: AnySize) -> AnySize:
    """The size of the model whose gates above a threshold are open: of neurons and heads the mean over its layers.

    Where layers may differ it is the number of each layer.

    >>> gates = {"layers": np.array([1.0, -1.0]), "heads": np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])}
    >>> opened(gates, 0, Size((0, 1), 8, 3), Size((0,), 8, 1))
    Size(layers=(0,), width=8, heads=3, embeddings=0)
    """
    layers = np.array(original.layers)
    if "layers" in log_alphas:
        of_layers = log_alphas["layers"]
        layers = np.flatnonzero(of_layers > threshold)
        layers = layers if len(layers) else np.array([of_layers.argmax()])
    if isinstance(least, FineSize):
        return _opened_by_layer(log_alphas, threshold, layers, original.by_layer(len(original.layers)), least)

    def number(kind: str, before: int, lowest: int) -> int:
        if kind not in log_alphas:
            return before
        return max(lowest, round(float((log_alphas[kind][layers] > threshold).sum(1).mean())))

    width, heads = number("neurons", original.width, least.width), number("heads", original.heads, least.heads)
    return Size(tuple(layers.tolist()), width, heads)


def _opened_by_layer(
    log_alphas: LogAlphas, threshold: float, layers: Int[np.ndarray, " kept"], full: FineSize, least: FineSize
) -> FineSize:
    """The size whose layers keep the neurons and heads that are open; one head at least stays.

    * `layers`: those that stay.
    """
    neurons, heads = np.array(full.neurons), np.array(full.heads)
    if "neurons" in log_alphas:
        neurons[layers] = np.maximum((log_alphas["neurons"][layers] > threshold).sum(1), min(least.neurons))
    if "heads" in log_alphas:
        heads[layers] = np.maximum((log_alphas["heads"][layers] > threshold).sum(1), min(least.heads))
        if not heads[layers].any():
            heads[layers[log_alphas["heads"][layers].max(1).argmax()]] = 1
    return FineSize(tuple(layers.tolist()), tuple(neurons.tolist()), tuple(heads.tolist()))
