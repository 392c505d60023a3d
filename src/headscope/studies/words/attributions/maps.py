"""How much each token takes from each other token: maps of one layer, and flow through those of all layers."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from headscope.capture.last_layer_rows import weight
from headscope.capture.projections import Projections
from headscope.studies.words.attributions.descent import LayerPass, wide

TokenMap = Float[Tensor, "example query key"]
Vectors = Float[Tensor, "example head key width"]
TINY = 1e-30
# Capacities are whole numbers of this part: a flow is exact within the number of edges by it.
UNIT = 2**26


def head_mean(layer: LayerPass) -> TokenMap:
    """Attention, averaged over heads; of a layer without heads 0."""
    return layer.attention.sum(1) / max(1, layer.attention.shape[1])


def value_vectors(layer: LayerPass, projections: Projections) -> Vectors:
    """What each head moves for each key: its value through the output projection, f(x) of Kobayashi et al. (2020)."""
    heads = projections.heads
    # [head, head_width, width]
    mixed = wide(weight(projections.output)).unflatten(1, (heads, projections.width)).permute(1, 2, 0)
    return torch.einsum("ehkw,hwd->ehkd", layer.values, mixed)


def head_norms(layer: LayerPass, vectors: Vectors) -> Float[Tensor, "example head query key"]:
    """The lengths |a f(x)| of what each head moves (Kobayashi et al. 2020, section 2)."""
    return layer.attention * torch.linalg.vector_norm(vectors, dim=-1)[:, :, None]


def norms(layer: LayerPass, vectors: Vectors) -> TokenMap:
    """The lengths of what all heads move together, |sum over heads of a f(x)| (Kobayashi et al. 2020, section 2).

    By the products of the vectors of each pair of heads: no array of queries by keys by width is made.
    """
    products = vectors.transpose(1, 2) @ vectors.permute(0, 2, 3, 1)  # [example, key, head, other_head]
    # [example, key, query, head] @ [example, key, head, other_head]
    attention = layer.attention.permute(0, 3, 2, 1)
    squared = ((attention @ products) * attention).sum(-1)  # [example, key, query]
    return squared.clamp_min(0).sqrt().mT


def row_normalised(lengths: TokenMap) -> TokenMap:
    """Each row by its sum."""
    return lengths / lengths.sum(-1, keepdim=True).clamp_min(TINY)


def kept_where_nothing_moves(lengths: TokenMap) -> TokenMap:
    """Each row by its sum; in a layer that moves nothing to a token, the token is all of its row."""
    identity = torch.eye(lengths.shape[-1], dtype=lengths.dtype, device=lengths.device)
    return row_normalised(torch.where(lengths.sum(-1, keepdim=True) == 0, identity, lengths))


def flows(
    maps: Sequence[Float[np.ndarray, "query key"]], readout: Float[np.ndarray, " query"]
) -> Float[np.ndarray, "layer key"]:
    """The flow from the tokens that are read at each layer to each input token.

    * `maps`: of each layer from the first, the capacities from its tokens to those of the layer below; rows sum to 1.
    * `readout`: the capacity from the source to each token.

    >>> flows([np.array([[0.5, 0.5], [0.0, 1.0]])], np.array([1.0, 0.0])).round(3).tolist()
    [[0.5, 0.5]]
    """
    return np.stack([_of_layer(maps[: layer + 1], readout) for layer in range(len(maps))])


def _of_layer(
    maps: Sequence[Float[np.ndarray, "query key"]], readout: Float[np.ndarray, " query"]
) -> Float[np.ndarray, " key"]:
    tokens, layers = len(readout), len(maps)
    # The nodes of layer l are l * tokens and on, 0 for the input; the last is the source.
    source = tokens * (layers + 1)
    capacities = np.zeros((source + 1, source + 1), np.int32)
    for layer, capacity in enumerate(maps, 1):
        upper, lower = (slice(level * tokens, (level + 1) * tokens) for level in (layer, layer - 1))
        capacities[upper, lower] = np.rint(capacity * UNIT)
    capacities[source, layers * tokens : source] = np.rint(readout * UNIT)
    graph = csr_array(capacities)
    return np.array([maximum_flow(graph, source, token).flow_value for token in range(tokens)]) / UNIT
