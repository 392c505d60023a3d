"""How much each token takes from each other token in one layer: maps of which attention is one."""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.last_layer_rows import weight
from headscope.capture.projections import Projections
from headscope.studies.attributions.descent import LayerPass, wide

TokenMap = Float[Tensor, "example query key"]
Vectors = Float[Tensor, "example head key width"]
TINY = 1e-30


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
