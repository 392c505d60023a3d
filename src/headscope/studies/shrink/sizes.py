"""Sizes of a model, such as its class can hold, and the model of a size, cut out of the original one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.head_slicing import uncuttable
from headscope.models.removable_parts import Kept, RemovableParts, parts_of
from headscope.models.smaller import cut
from headscope.passes.settings import Settings
from headscope.studies.shrink.fine_size import FineSize
from headscope.studies.shrink.moments import (
    Moments,
    Weights,
    added,
    added_by_heads,
    fitted,
    moments_of,
    ranked_by_layer,
)
from headscope.studies.shrink.narrow_embeddings import NarrowEmbeddings, narrow_embeddings
from headscope.studies.shrink.target import KINDS

# A fit is kept for so many numbers of neurons of a layer: those that steps of a search have in common.
FITS = 3
# Neurons and heads are measured on at most so many texts.
MOST_TEXTS = 1024


@dataclass(frozen=True)
class Size:
    """The layers that stay (from 0), the width of their feed-forward parts, and their number of heads.

    * `embeddings`: numbers of each embedding; 0 for those of the whole model.
    """

    layers: tuple[int, ...]
    width: int
    heads: int
    embeddings: int = 0

    @property
    def of_layers(self) -> tuple[tuple[int, int], ...]:
        """The numbers of neurons and heads of the layers that stay."""
        return ((self.width, self.heads),) * len(self.layers)

    def by_layer(self, layers: int) -> FineSize:
        """The same size by its numbers of each layer of the whole model.

        >>> Size((1,), 5, 2).by_layer(2)
        FineSize(layers=(1,), neurons=(5, 5), heads=(2, 2), embeddings=0)
        """
        return FineSize(self.layers, (self.width,) * layers, (self.heads,) * layers, self.embeddings)

    def smaller(self, original: "Original", groups: int) -> Iterator[tuple[str, "Size"]]:
        """The next smaller sizes, each with the name of the part that it lacks; layers count from 1."""
        step = max(1, original.size.width // groups)
        if "neurons" in original.kinds and original.moments and self.width > step:
            yield "neurons", replace(self, width=self.width - step)
        if "heads" in original.kinds and original.parts.heads and self.heads > 1:
            yield "heads", replace(self, heads=self.heads - 1)
        if (less := original.narrower(self.embeddings, groups)) is not None:
            yield "embeddings", replace(self, embeddings=less)
        if "layers" in original.kinds and len(self.layers) > 1:
            for layer in original.next_layers(self.layers):
                yield f"layer {layer + 1}", replace(self, layers=tuple(kept for kept in self.layers if kept != layer))


AnySize = Size | FineSize


@dataclass(frozen=True)
class Original:
    """The model before anything is removed, and what its parts add to its states.

    * `moments`: of the neurons of each layer; none where these cannot be found, or their output maps are not fitted.
    * `of_neurons`: what the neurons of each layer add.
    * `of_heads`: what the heads of each layer add; none where their number is fixed.
    * `ridge`: see `moments.fitted`; `kinds`: of `target.KINDS`, the parts that may go.
    * `layer_order`: the order in which layers go; empty where any may go next.
    * `fine`: whether layers may keep different numbers; `least_heads`, `least_neurons`: that a layer keeps then, 0 for
      none.
    * `embeddings`: how these become narrower; None where they stay.
    """

    model: Model
    parts: RemovableParts
    moments: Sequence[Moments]
    of_neurons: Sequence[Float[np.ndarray, " neuron"]]
    of_heads: Sequence[Float[np.ndarray, " head"]]
    ridge: float
    kinds: tuple[str, ...]
    layer_order: tuple[int, ...] = ()
    fine: bool = False
    least_heads: int = 1
    least_neurons: int = 0
    embeddings: NarrowEmbeddings | None = None

    @cached_property
    def size(self) -> Size:
        """The size of the whole model."""
        heads, maps = self.model.capture.heads, self.parts.feed_forward
        return Size(tuple(range(len(heads))), maps[0].width if maps else 0, max(heads))

    @property
    def start(self) -> AnySize:
        """The size that a search begins with."""
        return self.size.by_layer(len(self.size.layers)) if self.fine else self.size

    def next_layers(self, layers: tuple[int, ...]) -> tuple[int, ...]:
        """Of some layers those that may go next."""
        ordered = tuple(layer for layer in self.layer_order if layer in layers)
        return ordered[:1] or layers

    def kept(self, size: AnySize, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Kept:
        """The parts that a size keeps: the layers that it names, and of each the neurons and heads that add most."""
        numbers, full = (one.by_layer(len(self.size.layers)) for one in (size, self.size))
        return Kept(
            layers=None if size.layers == full.layers else size.layers,
            neurons=None if numbers.neurons == full.neurons else ranked_by_layer(self.of_neurons, numbers.neurons),
            heads=None if numbers.heads == full.heads else ranked_by_layer(self.of_heads, numbers.heads),
            pieces=pieces,
            tokens=tokens,
        )

    def cut(self, size: AnySize, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Model:
        """A model of a size; output maps of fewer neurons are fitted to the outputs of all, if there are moments."""
        kept, outputs, model = self.kept(size, pieces, tokens), None, self.model
        if kept.neurons is not None and self.moments:
            outputs = [self._fitted(layer, some) for layer, some in enumerate(kept.neurons)]
        if self.embeddings is not None and size.embeddings:
            model = self.embeddings.projected(model, size.embeddings)
        return cut(model, kept, outputs=outputs, fine=self.fine)

    def written(self, size: AnySize, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Model:
        """The same model in the class that is saved: another one only if its embeddings are narrower."""
        smaller = self.cut(size, pieces, tokens)
        if self.embeddings is None or not size.embeddings:
            return smaller
        return self.embeddings.narrowed(smaller, size.embeddings)

    def saved_megabytes(self, size: AnySize) -> float:
        """Megabytes that the saved class has less than the one of `cut`."""
        return 0.0 if self.embeddings is None else self.embeddings.saved_megabytes(size.embeddings)

    def narrower(self, width: int, groups: int) -> int | None:
        """The next width of embeddings below one (0 for that of the whole model); None if there is none."""
        return None if self.embeddings is None else self.embeddings.narrower(width, groups)

    def _fitted(self, layer: int, some: tuple[int, ...]) -> Weights:
        """The fitted output map of some neurons of a layer."""
        if some not in (known := self._fits.setdefault(layer, {})):
            known[some] = fitted((self.parts.feed_forward or ())[layer], self.moments[layer], some, self.ridge)
            for oldest in [*known][:-FITS]:
                del known[oldest]
        return known[some]

    @cached_property
    def _fits(self) -> dict[int, dict[tuple[int, ...], Weights]]:
        """The last fits of each layer by their neurons."""
        return {}


def original_of(
    model: Model,
    inputs: Sequence[Encoded],
    settings: Settings,
    ridge: float,
    kinds: tuple[str, ...] = KINDS,
    *,
    fine: bool = False,
) -> Original:
    """Measure what the parts of a model add on some inputs.

    * `kinds`: the parts that may go; `fine`: whether layers may keep different numbers.

    Raises `HeadscopeError` for a model that can lose no part of these, see `models.smaller.parts_of`.
    """
    parts, inputs = parts_of(model, fine=fine), inputs[:MOST_TEXTS]
    if kinds == ("heads",) and not parts.heads:
        reason = uncuttable(model) or "its class has no width of heads of its own, so that --fine is needed"
        raise HeadscopeError(f"model '{model.name}' can lose no heads: {reason}; name other parts by --parts")
    moments = moments_of(model, parts, inputs, settings)
    of_neurons = [added(part, one) for part, one in zip(parts.feed_forward or (), moments, strict=True)]
    of_heads = added_by_heads(model, inputs, settings) if parts.heads else []
    least = _least_heads(model) if fine and parts.heads else 1
    return Original(model, parts, moments, of_neurons, of_heads, ridge, kinds, fine=fine, least_heads=least)


def with_narrow_embeddings(
    original: Original, inputs: Sequence[Encoded], pieces: tuple[int, ...] | None, tokens: int | None
) -> Original:
    """The model whose embeddings may become narrower, if they are among the parts that may go.

    * `inputs`, `pieces`, `tokens`: see `narrow_embeddings`.

    Raises `HeadscopeError` for a model of which no ordinary class has embeddings of another width.
    """
    if "embeddings" not in original.kinds:
        return original
    return replace(original, embeddings=narrow_embeddings(original.model, inputs, pieces, tokens))


def _least_heads(model: Model) -> int:
    """0 if a layer of the model can do without heads, else 1."""
    heads = [tuple(range(number)) for number in model.capture.heads]
    if len(heads) == 1:
        return 1
    try:
        cut(model, Kept(heads=((), *heads[1:])), fine=True)
    except HeadscopeError:
        return 1
    return 0
