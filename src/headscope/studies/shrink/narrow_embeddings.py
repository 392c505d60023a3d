"""The width of embeddings as a part that the search may lessen."""

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.embedding_width import EmbeddingBasis, basis_of, narrowed, projected, rows_of, saved_weights
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut


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


def narrow_embeddings(
    model: Model, inputs: Sequence[Encoded], pieces: tuple[int, ...] | None, tokens: int | None
) -> NarrowEmbeddings:
    """How the embeddings of a model can be narrower, with the pieces and positions that stay.

    * `inputs`: texts by which rows of the tables count.

    Raises `HeadscopeError` for a model of which no ordinary class has embeddings of another width.
    """
    basis = basis_of(model, inputs)
    rows = rows_of(model if pieces is None and tokens is None else cut(model, Kept(pieces=pieces, tokens=tokens)))
    return NarrowEmbeddings(basis, rows, model.network.dtype.itemsize)
