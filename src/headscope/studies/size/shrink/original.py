"""The model before anything is removed, what its parts add to its states, its smaller sizes, and a model of a size."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.embedding_width import EmbeddingBasis, narrowed, projected
from headscope.models.head_slicing import sharing, uncuttable
from headscope.models.removable_parts import Kept, RemovableParts, parts_of
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import megabytes
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.moments import (
    Moments,
    Weights,
    added,
    added_by_heads,
    embedding_basis,
    fitted,
    moments_of,
    ranked,
)
from headscope.studies.size.shrink.plan import KINDS, Size

# What a step removes: some of them, or all.
NEURONS, HEADS = ("neurons", "feed-forward part"), ("heads", "attention")
# Weight of the old output maps in a fit, see `moments.fitted`.
RIDGE = 0.1
# Bytes of a key and a value for each number of the width of a head.
BYTES_OF_KEY_HEAD = 4
# A fit is kept for this many numbers of neurons of a layer: those that steps of a search have in common.
FITS = 3
# Neurons and heads are measured on at most this many texts.
MOST_TEXTS = 1024


@dataclass(frozen=True)
class Original:
    """The model before anything is removed, and what its parts add to its states.

    * `moments`: of the neurons of each layer; none where these cannot be found, or their output maps are not fitted.
    * `of_neurons`: what the neurons of each layer add.
    * `of_heads`: what the heads of each layer add; none where their number is fixed.
    * `kinds`: of `plan.KINDS`, the parts that may go.
    * `fine`: whether layers may keep different numbers; `least_heads`, `least_neurons`: that a layer keeps, 0 for none.
      Heads that share a key and a value stay or go together.
    * `embeddings`: how these become narrower; None where they stay.
    * `pieces`: ids of the vocabulary that the saved model keeps; None for all.
    """

    model: Model
    parts: RemovableParts
    moments: Sequence[Moments]
    of_neurons: Sequence[Float[np.ndarray, " neuron"]]
    of_heads: Sequence[Float[np.ndarray, " head"]]
    kinds: tuple[str, ...]
    fine: bool = False
    least_heads: int = 1
    least_neurons: int = 1
    embeddings: EmbeddingBasis | None = None
    pieces: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """The neurons of a layer; 0 where they cannot be found."""
        return self.parts.feed_forward[0].width if self.parts.feed_forward else 0

    @property
    def heads(self) -> int:
        """The heads of a layer."""
        return max(self.model.capture.heads)

    def cache(self, size: Size) -> int:
        """Bytes of the keys and values that a model of a size keeps of a token, in numbers of 16 bits."""
        key_heads = sum(heads for _, heads in size.by_layer) // sharing(self.model)
        return BYTES_OF_KEY_HEAD * key_heads * self.model.projections[0].width

    @cached_property
    def size(self) -> Size:
        """The size of the whole model."""
        number = len(self.model.capture.heads)
        return Size(tuple(range(number)), (self.width,) * number, (self.heads,) * number)

    @cached_property
    def unused_megabytes(self) -> float:
        """Megabytes of the pieces that go in any case."""
        return 0.0 if self.pieces is None else megabytes(self.model) - megabytes(self.cut(self.size, self.pieces))

    def smaller(self, size: Size, groups: int) -> Iterator[tuple[str, Size]]:
        """The next sizes below one, each with the name of the part that it lacks; layers count from 1.

        One head at least stays in the model, since attention is checked wherever it is loaded.

        * `groups`: a step removes one of this many groups of neurons.
        """
        full, fine = self.size, self.fine
        neurons, together = max(1, self.width // groups), self.parts.heads
        heads = max(together, self.heads // groups // together * together) if together and fine else together
        for layers in [(layer,) for layer in size.layers] if fine else [full.layers]:
            now, where = (layers[0], f" of layer {layers[0] + 1}") if fine else (size.layers[0], "")
            if "neurons" in self.kinds and self.moments:
                for part, number in _fewer(size.neurons[now], neurons, self.least_neurons, NEURONS):
                    yield f"{part}{where}", size.with_numbers(layers, neurons=number)
            if "heads" in self.kinds and self.parts.heads:
                others = sum(heads for _, heads in size.by_layer) - size.heads[now]
                least = self.least_heads if others else 1
                for part, number in _fewer(size.heads[now], heads, least, HEADS):
                    yield f"{part}{where}", size.with_numbers(layers, heads=number)
        if self.embeddings is not None and (less := self.embeddings.narrower(size.embeddings, groups)) is not None:
            yield "embeddings", replace(size, embeddings=less)
        if "layers" in self.kinds and len(size.layers) > 1:
            for layer in size.layers:
                left = tuple(kept for kept in size.layers if kept != layer)
                if any(size.heads[kept] for kept in left):
                    # where layers differ, those that are gone have the numbers of the whole model
                    numbers = size.with_numbers((layer,), self.width, self.heads) if self.fine else size
                    yield f"layer {layer + 1}", replace(numbers, layers=left)

    def kept(self, size: Size, pieces: tuple[int, ...] | None = None) -> Kept:
        """The parts that a size keeps: the layers that it names, and of each the neurons and heads that add most."""
        full = self.size
        return Kept(
            layers=None if size.layers == full.layers else size.layers,
            neurons=None if size.neurons == full.neurons else ranked(self.of_neurons, size.neurons),
            heads=None if size.heads == full.heads else ranked(self.of_heads, size.heads, self.parts.heads),
            pieces=pieces,
        )

    def cut(self, size: Size, pieces: tuple[int, ...] | None = None) -> Model:
        """A model of a size; output maps of fewer neurons are fitted to the outputs of all, if there are moments."""
        kept, outputs, model = self.kept(size, pieces), None, self.model
        if kept.neurons is not None and self.moments:
            outputs = [self._fitted(layer, some) for layer, some in enumerate(kept.neurons)]
        if self.embeddings is not None and size.embeddings:
            model = projected(model, self.embeddings, size.embeddings)
        return cut(model, kept, outputs=outputs, fine=self.fine)

    def written(self, size: Size) -> Model:
        """The same model without unused pieces, in the class that is saved: another one if embeddings are narrower."""
        smaller = self.cut(size, self.pieces)
        if self.embeddings is None or not size.embeddings:
            return smaller
        return narrowed(smaller, self.embeddings, size.embeddings)

    def megabytes(self, smaller: Model, size: Size) -> float:
        """Megabytes of a model of `cut` as it is saved."""
        narrow = 0.0 if self.embeddings is None else self.embeddings.saved_megabytes(size.embeddings)
        return megabytes(smaller) - self.unused_megabytes - narrow

    @cached_property
    def _fitted(self) -> Callable[[int, tuple[int, ...]], Weights]:
        """The fitted output map of a layer by its neurons that stay; the last fits are kept."""
        maps = [*(self.parts.feed_forward or ())]
        return lru_cache(FITS * len(maps))(lambda layer, some: fitted(maps[layer], self.moments[layer], some, RIDGE))


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


def original_of(
    model: Model,
    inputs: Sequence[Encoded],
    settings: Settings,
    kinds: tuple[str, ...] = KINDS,
    pieces: tuple[int, ...] | None = None,
    *,
    fine: bool = False,
) -> Original:
    """Measure what the parts of a model add on some inputs.

    * `kinds`: the parts that may go; `fine`: whether layers may keep different numbers.
    * `pieces`: ids of the vocabulary that stay; None for all.

    Raises `HeadscopeError` for a model that can lose no part of these, see `models.smaller.parts_of`, and for narrower
    embeddings where no ordinary class has them.
    """
    parts, some = parts_of(model, fine=fine), inputs[:MOST_TEXTS]
    if kinds == ("heads",) and not parts.heads:
        reason = uncuttable(model, sharing(model))
        reason = reason or "its class has no width of heads of its own, so that --fine is needed"
        raise HeadscopeError(f"model '{model.name}' can lose no heads: {reason}; name other parts by --parts")
    moments = moments_of(model, parts, some, settings)
    of_neurons = [added(part, one) for part, one in zip(parts.feed_forward or (), moments, strict=True)]
    of_heads = added_by_heads(model, some, settings) if parts.heads else []
    original = Original(model, parts, moments, of_neurons, of_heads, kinds, fine=fine, pieces=pieces)
    if "embeddings" in kinds:
        original = replace(original, embeddings=embedding_basis(model, inputs, pieces))
    if not fine:
        return original
    number, heads = len(model.capture.heads), [tuple(range(number)) for number in model.capture.heads]
    headless = number > 1 and parts.heads and _runs(original, Kept(heads=((), *heads[1:])))
    # Conv1D of transformers, as in GPT-2, takes no empty states.
    no_neurons = parts.feed_forward and _runs(original, Kept(neurons=((),) * number))
    return replace(original, least_heads=0 if headless else 1, least_neurons=0 if no_neurons else 1)


def _runs(original: Original, kept: Kept) -> bool:
    """Whether the model can do with these parts alone."""
    try:
        cut(original.model, kept, fine=True)
    except HeadscopeError:
        return False
    return True
