"""The sum of attention and residual connection in a layer, and the layer normalisation of that sum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.ablation.partial_rerun import with_attention_output
from headscope.capture.eager import check_inputs
from headscope.capture.layer_stack import Call, Stack
from headscope.capture.projections import Projections
from headscope.studies.words.attributions.descent import LayerPass, same_states
from headscope.studies.words.attributions.maps import TokenMap, Vectors, norms


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
