"""Sizes of a model that its class can hold, and the model of a size, cut out of the original one."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.removable_parts import Kept, RemovableParts, parts_of
from headscope.models.smaller import cut
from headscope.passes.settings import Settings
from headscope.studies.shrink.moments import Moments, added, added_by_heads, fitted, moments_of, ranked
from headscope.studies.shrink.narrow_embeddings import NarrowEmbeddings
from headscope.studies.shrink.target import KINDS

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

    def as_json(self) -> dict[str, Any]:
        """The size as JSON stores it."""
        return asdict(self)


def size_from(stored: dict[str, Any]) -> Size:
    """The size that `Size.as_json` stored."""
    return Size(tuple(stored["layers"]), int(stored["width"]), int(stored["heads"]), int(stored.get("embeddings", 0)))


@dataclass(frozen=True)
class Original:
    """The model before anything is removed, and what its parts add to its states.

    * `moments`: of the neurons of each layer; none where these cannot be found, or their output maps are not fitted.
    * `of_neurons`: what the neurons of each layer add.
    * `of_heads`: what the heads of each layer add; none where their number is fixed.
    * `ridge`: see `moments.fitted`; `kinds`: of `target.KINDS`, the parts that may go.
    * `layer_order`: the order in which layers go; empty where any may go next.
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
    embeddings: NarrowEmbeddings | None = None

    @cached_property
    def size(self) -> Size:
        """The size of the whole model."""
        heads, maps = self.model.capture.heads, self.parts.feed_forward
        return Size(tuple(range(len(heads))), maps[0].width if maps else 0, max(heads))

    def next_layers(self, layers: tuple[int, ...]) -> tuple[int, ...]:
        """Of some layers those that may go next."""
        ordered = tuple(layer for layer in self.layer_order if layer in layers)
        return ordered[:1] or layers

    def kept(self, size: Size, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Kept:
        """The parts that a size keeps: the layers that it names, and of each the neurons and heads that add most."""
        return Kept(
            layers=None if size.layers == self.size.layers else size.layers,
            neurons=None if size.width == self.size.width else ranked(self.of_neurons, size.width),
            heads=None if size.heads == self.size.heads else ranked(self.of_heads, size.heads),
            pieces=pieces,
            tokens=tokens,
        )

    def cut(self, size: Size, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Model:
        """A model of a size; output maps of fewer neurons are fitted to the outputs of all, if there are moments."""
        kept, maps, model = self.kept(size, pieces, tokens), self.parts.feed_forward or (), self.model
        outputs = None
        if kept.neurons is not None and self.moments:
            fits = zip(maps, self.moments, kept.neurons, strict=True)
            outputs = [fitted(part, moments, some, self.ridge) for part, moments, some in fits]
        if self.embeddings is not None and size.embeddings:
            model = self.embeddings.projected(model, size.embeddings)
        return cut(model, kept, outputs=outputs)

    def written(self, size: Size, pieces: tuple[int, ...] | None = None, tokens: int | None = None) -> Model:
        """The same model in the class that is saved: another one only if its embeddings are narrower."""
        smaller = self.cut(size, pieces, tokens)
        if self.embeddings is None or not size.embeddings:
            return smaller
        return self.embeddings.narrowed(smaller, size.embeddings)

    def saved_megabytes(self, size: Size) -> float:
        """Megabytes that the saved class has less than the one of `cut`."""
        return 0.0 if self.embeddings is None else self.embeddings.saved_megabytes(size.embeddings)

    def narrower(self, width: int, groups: int) -> int | None:
        """The next width of embeddings below one (0 for that of the whole model); None if there is none."""
        return None if self.embeddings is None else self.embeddings.narrower(width, groups)


def original_of(
    model: Model, inputs: Sequence[Encoded], settings: Settings, ridge: float, kinds: tuple[str, ...] = KINDS
) -> Original:
    """Measure what the parts of a model add on some inputs.

    * `kinds`: the parts that may go.

    Raises `HeadscopeError` for a model that can lose no part, see `models.smaller.parts_of`.
    """
    parts, inputs = parts_of(model), inputs[:MOST_TEXTS]
    moments = moments_of(model, parts, inputs, settings)
    of_neurons = [added(part, one) for part, one in zip(parts.feed_forward or (), moments, strict=True)]
    of_heads = added_by_heads(model, inputs, settings) if parts.heads else []
    return Original(model, parts, moments, of_neurons, of_heads, ridge, kinds)
