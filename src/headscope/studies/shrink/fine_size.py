"""Sizes of a model whose layers keep different numbers of neurons and heads, or lack one of their two parts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headscope.studies.shrink.sizes import Original

# What a step removes of a layer: a group of its neurons or all of them, a group of its heads or all of them.
NEURONS, FEED_FORWARD = "neurons", "feed-forward part"
HEADS, ATTENTION = "heads", "attention"


@dataclass(frozen=True)
class FineSize:
    """The layers that stay (from 0), and the numbers of neurons and heads that each layer of the whole model keeps.

    A layer that does not stay has the numbers of the whole model, which count for nothing.

    * `embeddings`: numbers of each embedding; 0 for those of the whole model.
    """

    layers: tuple[int, ...]
    neurons: tuple[int, ...]
    heads: tuple[int, ...]
    embeddings: int = 0

    @property
    def of_layers(self) -> tuple[tuple[int, int], ...]:
        """The numbers of neurons and heads of the layers that stay."""
        return tuple((self.neurons[layer], self.heads[layer]) for layer in self.layers)

    def by_layer(self, layers: int) -> "FineSize":
        """The same."""
        return self

    def smaller(self, original: "Original", groups: int) -> Iterator[tuple[str, "FineSize"]]:
        """The next smaller sizes, each with the name of the part that it lacks; layers count from 1.

        One head at least stays in the model, since attention is checked wherever it is loaded.
        """
        full, kinds, fewest = original.size, original.kinds, original.least_neurons
        for layer in self.layers:
            others = sum(heads for _, heads in self.of_layers) - self.heads[layer]
            if "neurons" in kinds and original.moments:
                for part, number in _fewer(self.neurons[layer], full.width, groups, fewest, (NEURONS, FEED_FORWARD)):
                    yield f"{part} of layer {layer + 1}", self._with(layer, neurons=number)
            if "heads" in kinds and original.parts.heads:
                least = original.least_heads if others else 1
                for part, number in _fewer(self.heads[layer], full.heads, groups, least, (HEADS, ATTENTION)):
                    yield f"{part} of layer {layer + 1}", self._with(layer, heads=number)
        if (less := original.narrower(self.embeddings, groups)) is not None:
            yield "embeddings", replace(self, embeddings=less)
        if "layers" in kinds and len(self.layers) > 1:
            for layer in original.next_layers(self.layers):
                left = tuple(kept for kept in self.layers if kept != layer)
                if any(self.heads[kept] for kept in left):
                    yield f"layer {layer + 1}", replace(self._with(layer, full.width, full.heads), layers=left)

    def alone(self, part: str, full: "FineSize") -> "FineSize":
        """The whole model without what this size lacks of a part.

        >>> size, full = FineSize((0, 1), (8, 2), (1, 4)), FineSize((0, 1), (8, 8), (4, 4))
        >>> size.alone("neurons of layer 2", full)
        FineSize(layers=(0, 1), neurons=(8, 2), heads=(4, 4), embeddings=0)
        """
        if part == "embeddings":
            return replace(full, embeddings=self.embeddings)
        layer = int(part.split()[-1]) - 1
        if part.startswith("layer"):
            return replace(full, layers=tuple(one for one in full.layers if one != layer or layer in self.layers))
        if part.startswith((NEURONS, FEED_FORWARD)):
            return full._with(layer, neurons=self.neurons[layer])
        return full._with(layer, heads=self.heads[layer])

    def moved_to(self, layers: tuple[int, ...], full: "FineSize") -> "FineSize":
        """A size of as many other layers, which keep the same numbers in the same order.

        >>> FineSize((0,), (5, 8), (1, 4)).moved_to((1,), FineSize((0, 1), (8, 8), (4, 4)))
        FineSize(layers=(1,), neurons=(8, 5), heads=(4, 1), embeddings=0)
        """
        moved = replace(full, layers=layers, embeddings=self.embeddings)
        for layer, (neurons, heads) in zip(layers, self.of_layers, strict=True):
            moved = moved._with(layer, neurons, heads)
        return moved

    def _with(self, layer: int, neurons: int | None = None, heads: int | None = None) -> "FineSize":
        """The size with other numbers in a layer."""
        return replace(
            self,
            neurons=self.neurons if neurons is None else _put(self.neurons, layer, neurons),
            heads=self.heads if heads is None else _put(self.heads, layer, heads),
        )


def _fewer(number: int, full: int, groups: int, least: int, names: tuple[str, str]) -> Iterator[tuple[str, int]]:
    """A group fewer of a layer's parts, and none of them, where these may go.

    * `names`: of a group, and of all.

    >>> list(_fewer(7, 8, 4, 0, ("heads", "attention"))), list(_fewer(2, 8, 4, 1, ("heads", "attention")))
    ([('heads', 5), ('attention', 0)], [])
    """
    left = number - max(1, full // groups)
    if left >= max(least, 1):
        yield names[0], left
    if not least and number:
        yield names[1], 0


def _put(numbers: tuple[int, ...], layer: int, number: int) -> tuple[int, ...]:
    return (*numbers[:layer], number, *numbers[layer + 1 :])
