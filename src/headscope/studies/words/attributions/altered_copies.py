"""Passes over copies of one input whose attention is altered, and how far their outputs are from the input's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.ablation.partial_rerun import repeated
from headscope.capture.attention_function import observed
from headscope.capture.layer_stack import Stack
from headscope.capture.observer import Intervention
from headscope.models import Model
from headscope.studies.words.attributions.altered_attention import Maps, OneHead, Recorded, Seen
from headscope.studies.words.attributions.targets import Target, Vectors


@dataclass(frozen=True)
class Copies:
    """An input, to be copied, and its target; within `switchable` and `frozen`.

    * `inputs`: of one example, without padding; `position`: the token at which a word is predicted.
    * `reference`: the vector of the target with the model's own attention, as the only row.
    """

    model: Model
    stack: Stack
    target: Target
    inputs: Mapping[str, Int[Tensor, "1 token"]]
    position: Int[Tensor, ""]
    reference: Vectors

    @property
    def tokens(self) -> int:
        """The length of the input."""
        return self.inputs["input_ids"].numel()

    def own(self) -> tuple[list[Maps], list[Seen]]:
        """The model's attention in each layer, [head, query, key], and the keys that queries see."""
        recorded = Recorded(1)
        with torch.no_grad(), self.model.intervened(recorded):
            self.model.network(**self.inputs)
        return [maps[0] for maps in recorded.maps], [seen[0] for seen in recorded.seen]

    def run(self, number: int, look: Intervention) -> Vectors:
        """The vectors of copies with attention as an intervention has it."""
        with self.model.intervened(look):
            return self._vectors(self.model.network(**self._repeated(number)), number)

    def run_recorded(self, number: int, look: Intervention) -> tuple[Vectors, list[Maps]]:
        """The vectors of copies, and the attention of each layer after the intervention."""
        recorded = Recorded(number)
        with self.model.intervened(look), self.model.intervened(recorded):
            vectors = self._vectors(self.model.network(**self._repeated(number)), number)
        return vectors, recorded.maps

    def run_from(self, layer: int, states: Float[Tensor, "1 token width"], look: OneHead) -> Vectors:
        """The vectors of copies whose passes start at a layer, which `states` enter."""
        number = len(look.maps)
        with observed(self.model.network, look, changes=True):
            output = self.stack.rest(self._repeated(number), layer, repeated(states, number))
        return self._vectors(output, number)

    def change(self, vectors: Vectors) -> Float[Tensor, " copy"]:
        """See `Target.distance`."""
        return self.target.distance(vectors, self.reference)

    def flipped(self, vectors: Vectors) -> Float[Tensor, " copy"]:
        """See `Target.flipped`."""
        return self.target.flipped(vectors, self.reference)

    def _repeated(self, number: int) -> dict[str, Tensor]:
        return {name: repeated(tensor, number) for name, tensor in self.inputs.items()}

    def _vectors(self, output: Any, number: int) -> Vectors:
        real = torch.ones_like(self.inputs["input_ids"]).expand(number, -1)
        return self.target.vectors(output, real, self.position.expand(number))
