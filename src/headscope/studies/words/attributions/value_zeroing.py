"""Value zeroing: how much the output of a layer at each token changes without the value of another token.

Mohebbi et al. 2023, section 3: the cosine distance of a token's output from the one where the value vector of one
token is 0 in all heads, while attention stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from headscope.ablation.partial_rerun import CHUNK, repeated, with_attention_output
from headscope.capture.last_layer_rows import weight
from headscope.capture.layer_stack import Call, Stack
from headscope.capture.projections import Projections
from headscope.studies.words.attributions.descent import LayerPass, wide
from headscope.studies.words.attributions.maps import TokenMap, Vectors
from headscope.studies.words.attributions.targets import cosine_distances


@dataclass(frozen=True)
class ValueZeroing:
    """The maps of some examples of a batch; several variants of them, each without one value, run together.

    * `chosen`: mask of the examples.
    """

    stack: Stack
    projections: Sequence[Projections]
    inputs: Mapping[str, Tensor]
    real: Bool[Tensor, "example token"]
    chosen: Bool[Tensor, " example"]
    # The calls of all layers for a number of copies of the examples.
    _calls: dict[int, list[Call]] = field(default_factory=dict)

    def map(self, layer: LayerPass, vectors: Vectors) -> TokenMap:
        """The cosine distance of each query's output without the value of each key; 0 for padded keys.

        NaN for the examples that were not chosen.
        """
        tokens = self.real.shape[1]
        maps = layer.states.new_full((len(self.real), tokens, tokens), torch.nan)
        if self.chosen.any():
            maps[self.chosen] = self._map(replace(
                layer,
                states=layer.states[self.chosen],
                output=layer.output[self.chosen],
                attention=layer.attention[self.chosen],
                values=layer.values[self.chosen],
            ), vectors[self.chosen])  # fmt: skip
        return maps

    def _map(self, layer: LayerPass, vectors: Vectors) -> TokenMap:
        """The map of the chosen examples."""
        projections, (examples, tokens, _width) = self.projections[layer.number], layer.states.shape
        if not projections.heads:
            return layer.states.new_zeros(examples, tokens, tokens)
        # [example, query, head, head_width] -> [example, query, head * head_width]
        contexts = (layer.attention @ layer.values).transpose(1, 2).flatten(2)
        plain = projections.output(contexts.to(weight(projections.output).dtype))
        together = max(1, CHUNK // (examples * tokens))
        parts = [
            self._distances(layer, vectors[:, :, first : first + together], plain, first)
            for first in range(0, tokens, together)
        ]
        # Without a value that moves nothing the output is the same, but for the rounding of batches of other sizes.
        moving = (vectors != 0).any(-1).any(1) & self.real[self.chosen]
        return torch.cat(parts, dim=-1) * moving[:, None]

    def _distances(self, layer: LayerPass, vectors: Vectors, plain: Tensor, first: int) -> TokenMap:
        number, examples = vectors.shape[2], len(plain)
        moved = torch.einsum("ehqk,ehkd->keqd", layer.attention[..., first : first + number], vectors)
        # [key_example, query, width], key by key
        outputs = (plain - moved).to(plain.dtype).flatten(0, 1)
        states, call = repeated(layer.states.to(plain.dtype), number), self._call(layer.number, number)
        changed = with_attention_output(self.stack, self.projections[layer.number], layer.number, states, call, outputs)
        changed = wide(changed).unflatten(0, (number, examples))
        return cosine_distances(changed, layer.output).permute(1, 2, 0)

    def _call(self, layer: int, copies: int) -> Call:
        if copies not in self._calls:
            inputs = {name: repeated(tensor[self.chosen], copies) for name, tensor in self.inputs.items()}
            self._calls[copies] = self.stack.arguments(inputs)
        return self._calls[copies][layer]
