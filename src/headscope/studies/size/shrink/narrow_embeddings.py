"""The width of embeddings as a part that the search may lessen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.embedding_width import (
    EmbeddingBasis,
    basis_of,
    narrowed,
    projected,
    refuse_others,
    rows_of,
    saved_weights,
)
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut

# Rows that no text reads count as if read so often, so that they decide where no other does.
UNREAD = 0.1


@dataclass(frozen=True)
class NarrowEmbeddings:
    """What embeddings of fewer numbers are made of, and what they save.

    * `rows`: those that stay of the tables of words, positions and segments.
    * `weight_bytes`: bytes of a weight.
    """

    basis: EmbeddingBasis
    rows: int
    weight_bytes: int

    def saved_megabytes(self, width: int) -> float:
        """Megabytes that embeddings of a width save; 0 for the width of the whole model."""
        return saved_weights(self.rows, self.basis.width, width) * self.weight_bytes / 1e6 if width else 0.0

    def narrower(self, width: int, groups: int) -> int | None:
        """The next width below one that saves more, in steps of one of `groups` parts; None if there is none."""
        step, now = max(1, self.basis.width // groups), self.saved_megabytes(width)
        widths = range((width or self.basis.width) - step, 1, -step)
        return next((less for less in widths if self.saved_megabytes(less) > now), None)

    def projected(self, model: Model, width: int) -> Model:
        """See `embedding_width.projected`."""
        return projected(model, self.basis, width)

    def narrowed(self, model: Model, width: int) -> Model:
        """See `embedding_width.narrowed`."""
        return narrowed(model, self.basis, width)


def narrow_embeddings(model: Model, inputs: Sequence[Encoded], pieces: tuple[int, ...] | None) -> NarrowEmbeddings:
    """How the embeddings of a model can be narrower, with the pieces that stay.

    * `inputs`: texts by which rows of the tables count.

    Raises `HeadscopeError` for a model of which no ordinary class has embeddings of another width.
    """
    refuse_others(model)
    basis = basis_of(model, row_counts(model, inputs))
    kept = model if pieces is None else cut(model, Kept(pieces=pieces))
    return NarrowEmbeddings(basis, sum(rows_of(kept)), model.network.dtype.itemsize)


def row_counts(model: Model, inputs: Sequence[Encoded]) -> list[Float[np.ndarray, " row"]]:
    """How often the inputs read each row of the tables of words, positions and segments, and a little more."""
    words, positions, segments = counts = [np.full(rows, UNREAD) for rows in rows_of(model)]
    for encoded in inputs:
        ids = encoded.inputs["input_ids"]
        np.add.at(words, ids, 1)
        positions[: len(ids)] += 1
        np.add.at(segments, encoded.inputs.get("token_type_ids", np.zeros_like(ids)), 1)
    return counts
