"""How much each token takes from each other token: maps of one layer, and flow through those of all layers.

Attention and norms (Kobayashi et al. 2020), with the residual connection (2021), and effective attention (Brunner et
al. 2020): of a row of attention, the part in the left null space of T, the values as the head moves them, adds up to 0.
A null space is there wherever an input has more tokens than a head is wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor, nn

from headscope.ablation.partial_rerun import with_attention_output
from headscope.capture.eager import check_inputs
from headscope.capture.last_layer_rows import weight
from headscope.capture.layer_stack import Call, Stack
from headscope.capture.projections import Projections
from headscope.studies.words.attributions.descent import LayerPass, same_states, wide

TokenMap = Float[Tensor, "example query key"]
Vectors = Float[Tensor, "example head key width"]
TINY = 1e-30
# Capacities are whole numbers of this part: a flow is exact within the number of edges by it.
UNIT = 2**26
Maps = Float[Tensor, "example head query key"]


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


def effective(layer: LayerPass, projections: Projections, real: Bool[Tensor, "example token"]) -> Maps:
    """The effective attention of each head: each row on the orthogonal complement of the left null space of T.

    Products with T are those of the whole attention. Rows need no longer be positive, nor sum to 1.

    * `real`: mask of the tokens without padding.
    """
    return projected(layer.attention, moved(layer, projections, real))


def moved(
    layer: LayerPass, projections: Projections, real: Bool[Tensor, "example token"]
) -> Float[Tensor, "example head key head_width"]:
    """What the head moves, T = X W_V W_O, rotated into head_width numbers: inner products stay the same.

    0 for padding.
    """
    # [head, head_width, width]
    outward = weight(projections.output).unflatten(1, (projections.heads, projections.width)).permute(1, 2, 0)
    left, sizes, _right = torch.linalg.svd(outward.double(), full_matrices=False)
    return layer.values.double() @ (left * sizes[:, None]) * real[:, None, :, None]


def projected(attention: Maps, vectors: Float[Tensor, "example head key width"]) -> Maps:
    """Each row of attention on the space that the columns of `vectors` span.

    Directions that are smaller than the rounding of single precision do not count.

    >>> rows, vectors = torch.tensor([[[[0.5, 0.25, 0.25]]]]), torch.tensor([[[[0.0], [1.0], [1.0]]]])
    >>> projected(rows, vectors).tolist()
    [[[[0.0, 0.25, 0.25]]]]
    """
    basis, sizes, _ = torch.linalg.svd(vectors.double(), full_matrices=False)
    least = max(vectors.shape[-2:]) * torch.finfo(torch.float32).eps
    basis = basis * (sizes > least * sizes.amax(-1, keepdim=True).clamp_min(1e-300))[..., None, :]
    return (attention.double() @ basis @ basis.mT).to(attention.dtype)


def effective_share(attention: Maps, part: Maps, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example head"]:
    """The squared length of the effective part of a row by that of the row: mean over queries."""
    share = part.square().sum(-1) / attention.square().sum(-1).clamp_min(1e-30)
    return (share * real[:, None]).sum(-1) / real.sum(-1, keepdim=True)


def effective_correlation(
    attention: Maps, part: Maps, real: Bool[Tensor, "example token"]
) -> Float[Tensor, "example head"]:
    """Pearson's correlation of attention and its effective part over pairs of tokens; NaN where one is constant."""
    cells = (real[:, :, None] & real[:, None])[:, None].double()
    number = cells.sum((-1, -2))

    def centred(maps: Maps) -> Maps:
        return (maps.double() - ((maps * cells).sum((-1, -2)) / number)[..., None, None]) * cells

    first, second = centred(attention), centred(part)
    lengths = (first.square().sum((-1, -2)) * second.square().sum((-1, -2))).sqrt()
    return torch.where(lengths > 1e-12, (first * second).sum((-1, -2)) / lengths, torch.nan)


@dataclass(frozen=True)
class Residual:
    """The normalisation of a layer's sum of attention and residual connection.

    A layer that normalises before its attention, such as that of GPT-2, has none after it.
    """

    norm: nn.LayerNorm | None

    def norms(self, layer: LayerPass, vectors: Vectors, bias: Tensor | None) -> TokenMap:
        """Lengths of what each key adds to each query, with the residual connection and layer normalisation.

        |g (y - mean(y)) / s|, where y = sum over heads of a f(x), for the query itself plus the state that enters the
        layer, g the weights of the normalisation and s the deviation that it divides by (Kobayashi et al. 2021, 2.3).
        """
        moved = self._scaled(vectors)
        attention = torch.diagonal(layer.attention, dim1=-2, dim2=-1)  # [example, head, token]
        itself = torch.einsum("eht,ehtd->etd", attention, moved) + self._scaled(layer.states)
        kept = torch.linalg.vector_norm(itself, dim=-1)
        lengths = norms(layer, moved).diagonal_scatter(kept, dim1=-2, dim2=-1)
        return lengths / self._deviation(layer, vectors, bias)[..., None]

    def _scaled(self, vectors: Tensor) -> Tensor:
        if self.norm is None:
            return vectors
        return (vectors - vectors.mean(-1, keepdim=True)) * self.norm.weight

    def _deviation(self, layer: LayerPass, vectors: Vectors, bias: Tensor | None) -> Float[Tensor, "example query"]:
        """What the normalisation divides the sum by at each query."""
        if self.norm is None:
            return layer.states.new_ones(layer.states.shape[:2])
        total = torch.einsum("ehqk,ehkd->eqd", layer.attention, vectors) + layer.states
        total = total if bias is None else total + bias
        return (total.var(-1, unbiased=False) + self.norm.eps).sqrt()


def residuals(stack: Stack, projections: Sequence[Projections]) -> list[Residual]:
    """The normalisation after the attention of each layer, found by what it is given; within `switchable`."""
    with torch.inference_mode():
        calls, _answer = stack.calls(check_inputs(stack.network))
        return [
            Residual(_normalisation(stack, projection, number, calls[number]))
            for number, projection in enumerate(projections)
        ]


def _normalisation(stack: Stack, projections: Projections, layer: int, call: Call) -> nn.LayerNorm | None:
    """The layer normalisation through which alone the sum of states and attention output goes on; None without one.

    It is given that sum, and the layer's output does not depend on a number that is added to all of the sum, as it
    would where the sum goes past the normalisation too.
    """
    attended: list[Tensor] = []
    normalised: list[tuple[nn.LayerNorm, Tensor]] = []
    norms = [module for module in stack.layers[layer].modules() if isinstance(module, nn.LayerNorm)]

    def at_output(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        attended.append(output)

    def at_norm(module: Any, args: tuple[Tensor, ...]) -> None:
        normalised.append((module, args[0]))

    handles = [projections.output.register_forward_hook(at_output)]
    handles += [norm.register_forward_pre_hook(at_norm) for norm in norms]
    try:
        output = stack.run(layer, call.states, call)
    finally:
        for handle in handles:
            handle.remove()
    shifted = with_attention_output(stack, projections, layer, call.states, call, attended[0] + 1)
    if not same_states(shifted, output):
        return None
    return next((norm for norm, states in normalised if torch.equal(states, attended[0] + call.states)), None)
