"""What a gated model is expected to cost by the measured price of each part, with gradients for its gates."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.models.gated import GateValues
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import SizeTarget
from headscope.studies.size.shrink.prices import Prices, layer_megabytes, narrow
from headscope.studies.size.shrink.sizes import Size


@dataclass(frozen=True)
class PartMegabytes:
    """Megabytes of a layer, of one of its neurons and of one of its heads, and of all that is outside of layers."""

    outside: float
    layer: float
    neuron: float
    head: float


def gates_of(size: Size) -> GateValues:
    """Gates that are open for the parts of a size alone, where those of a layer count together."""
    stays = [float(layer in size.layers) for layer in range(len(size.neurons))]
    layers, neurons, heads = (
        torch.tensor(numbers, dtype=torch.float64) for numbers in (stays, size.neurons, size.heads)
    )
    return GateValues(layers, neurons[:, None], heads[:, None])


def part_megabytes(original: Original) -> PartMegabytes:
    """Megabytes of the parts of a model, measured on models that lack one neuron or one head in each layer."""
    size, model = original.size, original.model
    number, total, layer = len(size.layers), megabytes(model), layer_megabytes(model)
    neuron = (total - megabytes(narrow(original, original.width - 1))) / number if original.moments else 0.0
    head = 0.0
    if original.parts.heads and original.heads > 1:
        fewer = cut(model, Kept(heads=(tuple(range(original.heads - 1)),) * number), fine=original.fine)
        head = (total - megabytes(fewer)) / number
    return PartMegabytes(total - original.unused_megabytes - number * layer, layer, neuron, head)


@dataclass(frozen=True)
class ExpectedPrice:
    """The price of a model by the probabilities that its parts stay.

    * `prices`: seconds; `sizes`: megabytes; `target`: what they are compared with.
    * `size`: of the whole model; `even`: whether all layers must have the same numbers of neurons and heads.
    """

    prices: Prices
    sizes: PartMegabytes
    target: SizeTarget
    size: Size
    even: bool = True

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
        layers, neurons, heads = self._counts(stays)
        unscaled = GateValues(torch.ones_like(layers))
        return (self._seconds(layers, neurons, heads) / self._seconds(*self._counts(unscaled))).mean()

    def megabytes(self, stays: GateValues) -> Float[Tensor, ""]:
        """Expected megabytes, without what goes in any case."""
        layers, neurons, heads = self._counts(stays)
        gone = (self.size.neurons[0] - neurons) * self.sizes.neuron + (self.size.heads[0] - heads) * self.sizes.head
        return self.sizes.outside + (layers * (self.sizes.layer - gone)).sum()

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

    def _seconds(self, layers: Tensor, neurons: Tensor, heads: Tensor) -> Float[Tensor, " shape"]:
        fixed, by_head = (layers.new_tensor(values) for values in (self.prices.fixed, self.prices.of_head))
        widths = layers.new_tensor(self.prices.widths)
        at_width = interpolated(neurons, widths, layers.new_tensor(self.prices.of_width))
        layer = (at_width - fixed) / len(self.size.layers) - (self.size.heads[0] - heads)[
            :, None
        ] * by_head  # [layer, shape]
        return fixed + (layers[:, None] * layer.clamp_min(0)).sum(0)


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
