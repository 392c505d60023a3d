"""Sizes of a model, and the next smaller ones that a search may take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headscope.studies.size.shrink.original import Original

# What a step removes: a group of neurons or all of them, heads or all of them.
NEURONS, FEED_FORWARD = "neurons", "feed-forward part"
HEADS, ATTENTION = "heads", "attention"


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

    def smaller(self, original: "Original", groups: int) -> Iterator[tuple[str, "Size"]]:
        """The next smaller sizes, each with the name of the part that it lacks; layers count from 1.

        One head at least stays in the model, since attention is checked wherever it is loaded.
        """
        full, kinds = original.size, original.kinds
        neurons, heads = (max(1, number // groups) for number in (original.width, original.heads))
        for layer in self.layers if original.fine else [None]:
            layers, of = ((layer,), f" of layer {layer + 1}") if layer is not None else (full.layers, "")
            now = self.layers[0] if layer is None else layer
            if "neurons" in kinds and original.moments:
                names = NEURONS + of, FEED_FORWARD + of
                for part, number in _fewer(self.neurons[now], neurons, original.least_neurons, names):
                    yield part, self.with_numbers(layers, neurons=number)
            if "heads" in kinds and original.parts.heads:
                others = sum(heads for _, heads in self.by_layer) - self.heads[now]
                least = original.least_heads if others else 1
                names = HEADS + of, ATTENTION + of
                for part, number in _fewer(self.heads[now], heads if original.fine else 1, least, names):
                    yield part, self.with_numbers(layers, heads=number)
        if original.embeddings and (less := original.embeddings.narrower(self.embeddings, groups)):
            yield "embeddings", replace(self, embeddings=less)
        if "layers" in kinds and len(self.layers) > 1:
            for layer in original.next_layers(self.layers):
                left = tuple(kept for kept in self.layers if kept != layer)
                if any(self.heads[kept] for kept in left):
                    # where layers differ, those that are gone have the numbers of the whole model
                    numbers = self.with_numbers((layer,), original.width, original.heads) if original.fine else self
                    yield f"layer {layer + 1}", replace(numbers, layers=left)

    def alone(self, part: str, full: "Size") -> "Size":
        """The whole model without what this size lacks of a part; of layers, the one that the part names.

        >>> size, full = Size((0, 1), (8, 2), (1, 4)), Size((0, 1), (8, 8), (4, 4))
        >>> size.alone("neurons of layer 2", full)
        Size(layers=(0, 1), neurons=(8, 2), heads=(4, 4), embeddings=0)
        """
        kind, _, number = part.partition(" of layer ")
        if kind == "embeddings":
            return replace(full, embeddings=self.embeddings)
        if kind.startswith("layer"):
            gone = int(kind.split()[1]) - 1
            return replace(full, layers=tuple(one for one in full.layers if one != gone or gone in self.layers))
        layers = (int(number) - 1,) if number else full.layers
        name = "neurons" if kind in (NEURONS, FEED_FORWARD) else "heads"
        return full.with_numbers(layers, **{name: getattr(self, name)[layers[0] if number else self.layers[0]]})

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


def _fewer(number: int, step: int, least: int, names: tuple[str, str]) -> Iterator[tuple[str, int]]:
    """A step fewer parts of a kind, and none of them, where these may go.

    * `names`: of a step, and of all.

    >>> list(_fewer(7, 2, 0, ("heads", "attention"))), list(_fewer(2, 2, 1, ("heads", "attention")))
    ([('heads', 5), ('attention', 0)], [])
    """
    if number - step >= max(least, 1):
        yield names[0], number - step
    if not least and number:
        yield names[1], 0


def _put(numbers: tuple[int, ...], layers: Sequence[int], number: int | None) -> tuple[int, ...]:
    if number is None:
        return numbers
    return tuple(number if layer in layers else before for layer, before in enumerate(numbers))
