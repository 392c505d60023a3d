"""What parts cost on this machine: seconds of forward passes over batches of some shapes, and megabytes.

The price of a size is measured; that of gates is expected, with gradients for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.models import Model
from headscope.models.removable_parts import GateValues, Kept, parts_of
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import Shapes, megabytes, seconds_by_round
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import Size, SizeTarget

# Widths that are timed, as shares of the whole one; between them seconds are interpolated.
WIDTHS = (1.0, 0.67, 0.33, 0.08)
LEAST_SHARE = 0.001
# Batches of this many inputs are timed, of the median length and that of the longest of twenty texts.
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
        neurons, heads = torch.tensor(size.by_layer, dtype=torch.float64).T
        return self.expected_seconds(torch.ones_like(neurons), neurons, heads).numpy()

    def expected_seconds(
        self, layers: Float[Tensor, " layer"], neurons: Float[Tensor, " layer"], heads: Float[Tensor, " layer"]
    ) -> Float[Tensor, " shape"]:
        """The same by the probability that each layer stays, and its expected numbers of neurons and heads."""
        tables = self.fixed, self.widths, self.of_width, self.of_head
        fixed, widths, of_width, of_head = (layers.new_tensor(values) for values in tables)
        seconds = (interpolated(neurons, widths, of_width) - fixed) / self.layers  # [layer, shape]
        seconds = seconds - (self.heads - heads)[:, None] * of_head
        return fixed + (layers[:, None] * seconds.clamp_min(0)).sum(0)

    def share(self, size: Size, original: Size) -> float:
        """Expected share of the whole model's time, the mean over shapes, at least a thousandth.

        >>> prices = Prices(((1, 8),), 2, 4, (0.0,), (8, 4), ((2.0,), (1.0,)), (0.0,))
        >>> prices.share(Size((0,), (4, 4), (4, 4)), Size((0, 1), (8, 8), (4, 4)))
        0.25
        """
        # Timings of a busy machine may give all time to parts that are gone.
        return max(float((self.seconds(size) / self.seconds(original)).mean()), LEAST_SHARE)


def measure(original: Original, shapes: Shapes) -> Prices:
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
    table = seconds_by_round([*models, shallow, few], shapes).min(0).T
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
    together = original.parts.heads
    if together in (0, before):
        return original.model, 0
    numbers = (original.least_heads * together,) * (number - 1) + (together,)
    size = replace(original.size, heads=numbers)
    return cut(original.model, original.kept(size), fine=original.fine), number * before - sum(numbers)


def shapes_of(lengths: Sequence[int], most: int) -> Shapes:
    """The timed shapes for texts of some lengths, of which a model reads this many tokens at most."""
    tokens = sorted({int(np.quantile(lengths, level)) for level in LEVELS})
    return tuple((batch, min(length, most)) for batch in BATCHES for length in tokens)


@dataclass(frozen=True)
class ExpectedPrice:
    """The price of a model by the probabilities that its parts stay.

    * `prices`: seconds; `target`: what a price is compared with.
    * `size`: of the whole model; `even`: whether all layers must have the same numbers of neurons and heads.
    * `outside`: megabytes of all that is outside of layers; `layer`, `neuron`, `head`: of one of these.
    """

    prices: Prices
    target: SizeTarget
    size: Size
    even: bool
    outside: float
    layer: float
    neuron: float
    head: float

    def of(self, size: Size) -> float:
        """The price of a model of a size, as times the target; see `excess`."""
        return float(self.excess(gates_of(size)))

    def excess(self, stays: GateValues) -> Float[Tensor, ""]:
        """Time or size as times the target, whichever is further from it; 1 where the target is just met."""
        shares = []
        if self.target.speed is not None:
            shares.append(self.share(stays) * self.target.speed)
        if self.target.megabytes is not None:
            shares.append(self.megabytes(stays) / self.target.megabytes)
        return torch.stack(shares).max()

    def share(self, stays: GateValues) -> Float[Tensor, ""]:
        """Expected share of the whole model's time, the mean over shapes; as `Prices.share` for gates of 0 and 1."""
        seconds, (layers, neurons, heads) = self.prices.expected_seconds, self._counts(stays)
        unscaled = GateValues(torch.ones_like(layers))
        return (seconds(layers, neurons, heads) / seconds(*self._counts(unscaled))).mean()

    def megabytes(self, stays: GateValues) -> Float[Tensor, ""]:
        """Expected megabytes, without what goes in any case."""
        layers, neurons, heads = self._counts(stays)
        gone = (self.size.neurons[0] - neurons) * self.neuron + (self.size.heads[0] - heads) * self.head
        return self.outside + (layers * (self.layer - gone)).sum()

    def unevenness(self, stays: GateValues) -> Float[Tensor, " layer_kind"]:
        """How far the neurons, then the heads, of each layer are from their mean over layers, as a share of all.

        The class of a model holds one number for all layers. A layer counts by the probability that it stays. Nothing
        where layers may differ.
        """
        layers, neurons, heads = self._counts(stays)
        stay = layers.detach()
        apart = []
        for values, counts, most in (
            (stays.neurons, neurons, self.size.neurons[0]),
            (stays.heads, heads, self.size.heads[0]),
        ):
            if values is not None and self.even:
                mean = (stay * counts).sum() / stay.sum().clamp_min(1e-6)
                apart.append(stay * (counts - mean) / most)
        return torch.cat(apart) if apart else layers.new_zeros(0)

    def _counts(self, stays: GateValues) -> tuple[Tensor, Tensor, Tensor]:
        """The probability that each layer stays, and its expected numbers of neurons and heads, each [layer]."""
        first = next(values for values in (stays.layers, stays.neurons, stays.heads) if values is not None)
        ones = first.new_ones(len(self.size.layers))
        return (
            ones if stays.layers is None else stays.layers,
            ones * self.size.neurons[0] if stays.neurons is None else stays.neurons.sum(1),
            ones * self.size.heads[0] if stays.heads is None else stays.heads.sum(1),
        )


def gates_of(size: Size) -> GateValues:
    """Gates that are open for the parts of a size alone, where those of a layer count together."""
    stays = [float(layer in size.layers) for layer in range(len(size.neurons))]
    layers, neurons, heads = (
        torch.tensor(numbers, dtype=torch.float64) for numbers in (stays, size.neurons, size.heads)
    )
    return GateValues(layers, neurons[:, None], heads[:, None])


def expected_price(prices: Prices, original: Original, target: SizeTarget) -> ExpectedPrice:
    """The price of a model with gates, by models that lack one neuron or one head in each layer."""
    size, model = original.size, original.model
    number, total, layer = len(size.layers), megabytes(model), layer_megabytes(model)
    outside = total - original.unused_megabytes - number * layer
    neuron = (total - megabytes(narrow(original, original.width - 1))) / number if original.moments else 0.0
    head = 0.0
    if original.parts.heads == 1 < original.heads:
        fewer = cut(model, Kept(heads=(tuple(range(original.heads - 1)),) * number), fine=original.fine)
        head = (total - megabytes(fewer)) / number
    return ExpectedPrice(prices, target, size, not original.fine, outside, layer, neuron, head)


def interpolated(
    at: Float[Tensor, " point"], widths: Float[Tensor, " width"], values: Float[Tensor, "width shape"]
) -> Float[Tensor, "point shape"]:
    """Values between the given widths, in descending order, on straight lines; outside of them the nearest one.

    >>> interpolated(torch.tensor([3.0, 9.0]), torch.tensor([4.0, 2.0]), torch.tensor([[8.0], [6.0]]))
    tensor([[7.],
            [8.]])
    """
    if len(widths) == 1:
        return values.expand(len(at), -1)
    at = at.clamp(widths[-1], widths[0])
    above = (widths[1:-1, None] >= at.detach()).sum(0)  # the last given width that is no smaller
    upper, lower = widths[above], widths[above + 1]
    share = ((at - lower) / (upper - lower))[:, None]
    return values[above + 1] + share * (values[above] - values[above + 1])
