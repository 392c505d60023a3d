"""Embeddings of fewer numbers: tables of words, positions and segments of lower rank, and a class that holds them.

BERT normalises the sum of its embeddings, so that only what differs from the mean of each row counts. Rows that lie in
r directions are written with r + 1 numbers, whose mean is 0 and whose normalisation is the same, and a linear map to
the width of the states: the embeddings of ALBERT (Lan et al. 2020, section 3.1), whose layers need not be shared.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.errors import HeadscopeError
from headscope.models.as_albert import albert_of, is_bert
from headscope.models.model import Model

TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")


@dataclass(frozen=True)
class EmbeddingBasis:
    """The directions of the embeddings of a model, those first that its texts read most.

    * `directions`: orthonormal, [direction, width], in double precision.
    * `lengths`: the mean squared length of what is read in each direction.
    * `rows`: those that stay of all tables; `weight_bytes`: bytes of a weight.
    """

    directions: Float[Tensor, "direction width"]
    lengths: Float[Tensor, " direction"]
    rows: int
    weight_bytes: int

    @property
    def width(self) -> int:
        """Numbers of each embedding in the whole model."""
        return self.directions.shape[1]

    def kept(self, width: int) -> Float[Tensor, "direction width"]:
        """The directions that embeddings of fewer numbers can hold: one number makes their mean 0."""
        return self.directions[: width - 1]

    def saved_megabytes(self, width: int) -> float:
        """Megabytes that embeddings of a width save; 0 for the width of the whole model."""
        return saved_weights(self.rows, self.width, width) * self.weight_bytes / 1e6 if width else 0.0

    def narrower(self, width: int, groups: int) -> int | None:
        """The next width below one that saves more, in steps of one of `groups` parts; None if there is none."""
        step, now = max(1, self.width // groups), self.saved_megabytes(width)
        widths = range((width or self.width) - step, 1, -step)
        return next((less for less in widths if self.saved_megabytes(less) > now), None)


def basis_of(model: Model, counts: Sequence[Float[np.ndarray, " row"]], rows: int) -> EmbeddingBasis:
    """The principal directions of the rows of all tables, each weighted by how often texts read it (`counts`)."""
    products = torch.zeros(1, dtype=torch.float64)
    total = 0.0
    for table, read in zip(_tables(model.network), counts, strict=True):
        centre, weights = centred(table.weight), torch.from_numpy(read)
        products = products + centre.T @ (weights[:, None] * centre)
        total += float(weights.sum())
    lengths, vectors = torch.linalg.eigh(products / total)
    directions = vectors.flip(1).T[:-1].contiguous()
    return EmbeddingBasis(directions, lengths.flip(0)[:-1], rows, model.network.dtype.itemsize)


def refuse_others(model: Model) -> None:
    """Raise `HeadscopeError` for a model that no class with narrower embeddings can be."""
    if not is_bert(model.network):
        raise HeadscopeError(
            f"the embeddings of '{model.name}' ({type(model.network).__name__}) cannot become narrower: only a BERT "
            "encoder or classifier can be written so; leave embeddings out of --parts"
        )


def projected(model: Model, basis: EmbeddingBasis, width: int) -> Model:
    """The same class with embeddings that lie in the directions which this many numbers can hold."""
    network: Any = copy.deepcopy(model.network)
    kept = basis.kept(width)
    with torch.no_grad():
        for table in _tables(network):
            table.weight.copy_(centred(table.weight) @ kept.T @ kept)
    return replace(model, network=network, sha256="", files=())


def narrowed(model: Model, basis: EmbeddingBasis, width: int) -> Model:
    """A projected model as an ALBERT whose embeddings have this many numbers; outputs are the same within 1e-5.

    Raises `HeadscopeError` if they are not.
    """
    embeddings: Any = model.network.base_model.embeddings
    kept = basis.kept(width)
    # Rows of the table are scaled so that their variance over `width` numbers is that over the width of the states.
    scale = (width / basis.width) ** 0.5
    around, norm = _without_mean(width), embeddings.LayerNorm
    written = {f"{name}.weight": scale * centred(getattr(embeddings, name).weight) @ kept.T @ around for name in TABLES}
    written |= {"LayerNorm.weight": torch.ones(width), "LayerNorm.bias": torch.zeros(width)}
    to_states = norm.weight.detach().cpu().double()[:, None] * (kept.T @ around) / scale
    return albert_of(model, written, to_states, norm.bias.detach().cpu())


def saved_weights(rows: int, states: int, width: int) -> int:
    """How many weights are saved: of the rows of all tables and the normalisation, minus those of the map.

    >>> saved_weights(1000, 64, 16)
    47008
    """
    return (rows + 2) * (states - width) - states * (width + 1)


def embedding_width(model: Model) -> int:
    """Numbers of each embedding of a piece."""
    table: Any = model.network.get_input_embeddings()
    return table.weight.shape[1]


def rows_of(model: Model) -> list[int]:
    """Rows of each of `TABLES`."""
    return [table.num_embeddings for table in _tables(model.network)]


def centred(weight: Float[Tensor, "row width"]) -> Float[Tensor, "row width"]:
    """Rows minus their mean, in double precision on the processor."""
    rows = weight.detach().cpu().double()
    return rows - rows.mean(1, keepdim=True)


def _without_mean(width: int) -> Float[Tensor, "direction width"]:
    """Orthonormal rows whose numbers sum to 0, from a Householder reflection: one row fewer than columns."""
    first = torch.full((width,), width**-0.5, dtype=torch.float64)
    away = first - torch.eye(width, dtype=torch.float64)[0]
    return (torch.eye(width, dtype=torch.float64) - 2 * torch.outer(away, away) / away.dot(away))[1:]


def _tables(network: Any) -> list[nn.Embedding]:
    return [getattr(network.base_model.embeddings, name) for name in TABLES]
