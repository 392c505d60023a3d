"""Sizes of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Size:
    """The layers that stay (from 0), and the numbers of neurons and heads that each layer of the whole model keeps.

    An ordinary class has the same numbers in all layers. The numbers of a layer that does not stay count for nothing.

    * `embeddings`: numbers of each embedding; 0 for those of the whole model.
    """

    layers: tuple[int, ...]
    neurons: tuple[int, ...]
    heads: tuple[int, ...]
    embeddings: int = 0

    @property
    def by_layer(self) -> tuple[tuple[int, int], ...]:
        """The numbers of neurons and heads of the layers that stay."""
        return tuple((self.neurons[layer], self.heads[layer]) for layer in self.layers)

    def moved_to(self, layers: Sequence[int], base: "Size") -> "Size":
        """A size of as many other layers, which keep the same numbers in the same order.

        * `base`: has the numbers of layers that are gone.

        >>> Size((0,), (5, 8), (1, 4)).moved_to((1,), Size((0, 1), (8, 8), (4, 4)))
        Size(layers=(1,), neurons=(8, 5), heads=(4, 1), embeddings=0)
        """
        moved = replace(base, layers=tuple(layers), embeddings=self.embeddings)
        for layer, (neurons, heads) in zip(layers, self.by_layer, strict=True):
            moved = moved.with_numbers((layer,), neurons, heads)
        return moved

    def with_numbers(self, layers: Sequence[int], neurons: int | None = None, heads: int | None = None) -> "Size":
        """The size with other numbers in some layers."""
        return replace(self, neurons=_put(self.neurons, layers, neurons), heads=_put(self.heads, layers, heads))


def _put(numbers: tuple[int, ...], layers: Sequence[int], number: int | None) -> tuple[int, ...]:
    if number is None:
        return numbers
    return tuple(number if layer in layers else before for layer, before in enumerate(numbers))
