"""A batch whose heads can be disabled one after the other, computing only what changes.

The states that enter layer l are the same whichever of its heads is disabled, and so are the contexts of all other
heads: one is replaced, which changes the layer's attention output by a small product, and the layers above run on.
The rest of a layer, and whatever follows the last, is the model's own code. Several variants make one batch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headscope.capture.attention_switch import attending, fused, nothing
from headscope.capture.interventions import Contexts, Replacement
from headscope.capture.last_layer_rows import LastLayerRows, at, weight
from headscope.capture.layer_stack import Call, Stack, States, instead
from headscope.capture.projections import Projections
from headscope.outputs.words.few_tokens import logits_together

# Variants are stacked up to this many tokens: larger batches leave the cache, and are no faster.
CHUNK = 2048


@dataclass(frozen=True)
class Rerun:
    """A batch in a network within `switchable`; call `start` first.

    * `replacements`: what takes the place of disabled heads' contexts in each layer.
    * `rows`: the tokens that the task head reads, where the last layer is to run for these alone (see `rows`);
      the logits of variants are then those of a task head that sees only them.
    """

    stack: Stack
    projections: Sequence[Projections]
    replacements: Sequence[Replacement]
    inputs: Mapping[str, Int[Tensor, "example token"]]
    rows: Int[Tensor, "example row"] | None = None
    # Of each layer: its heads' contexts and what would replace them; its call, by the number of variants.
    _contexts: list[Contexts] = field(default_factory=list)
    _replaced: list[Contexts] = field(default_factory=list)
    _calls: dict[int, list[Call]] = field(default_factory=dict)

    def start(self) -> Float[Tensor, "example ..."]:
        """Run the plain forward pass and keep what variants need of it. Returns: its logits."""

        def attend(
            module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **keywords: Any
        ) -> tuple[Contexts, None]:
            contexts, _ = fused(module, query, key, value, attention_mask, **keywords)
            self._replaced.append(self.replacements[len(self._contexts)](value, attention_mask))
            self._contexts.append(contexts)
            return contexts, None

        with attending(attend):
            self._calls[1], answer = self.stack.calls(self.inputs)
        return answer.logits

    def disabled(
        self, layer: int, chosen: Bool[np.ndarray, "variant head"], above: Bool[np.ndarray, "layer head"]
    ) -> Iterator[Float[Tensor, "example ..."]]:
        """The logits of each variant.

        * `chosen`: the heads of `layer` (from 0) that each variant disables.
        * `above`: heads of higher layers that all of them disable.
        """
        together = max(1, min(CHUNK, logits_together(self.stack.network)) // self.inputs["input_ids"].numel())
        outputs, end = self._outputs(layer), len(self.stack.layers) - (self.rows is not None)
        for first in range(0, len(chosen), together):
            part = chosen[first : first + together]
            calls, states = self._stacked(len(part)), repeated(self._calls[1][layer].states, len(part))
            if layer < end:
                projection = self.projections[layer]
                states = with_attention_output(self.stack, projection, layer, states, calls[layer], outputs(part))
            for higher in range(layer + 1, end):
                states = self._layer(higher, states, calls[higher], above[higher])
            if self.rows is None:
                yield from self._answers(states, len(part))
            else:
                yield from self._answers_at(self.rows, states, calls[end], part if layer == end else above[[end]])

    def skipped(self, layer: int, attention_alone: bool) -> Float[Tensor, "example ..."]:
        """The logits where a layer (from 0), or its attention alone, adds nothing to the states that enter it."""
        states = self._calls[1][layer].states
        if attention_alone:
            projection, call = self.projections[layer], self._calls[1][layer]
            nothing_added = states.new_zeros(*states.shape[:-1], weight(projection.output).shape[0])
            states = with_attention_output(self.stack, projection, layer, states, call, nothing_added)
        for higher in range(layer + 1, len(self.stack.layers)):
            states = self.stack.run(higher, states, self._calls[1][higher])
        return self.stack.finish(self.inputs, states).logits

    def _stacked(self, variants: int) -> list[Call]:
        """The call of each layer for `variants` copies of the inputs."""
        if variants not in self._calls:
            inputs = {name: repeated(tensor, variants) for name, tensor in self.inputs.items()}
            self._calls[variants] = self.stack.arguments(inputs)
        return self._calls[variants]

    def _outputs(self, layer: int) -> Callable[[Bool[np.ndarray, "variant head"]], States]:
        """A function from disabled heads to the output of the layer's output projection."""
        projection, contexts = self.projections[layer], self._contexts[layer]
        # [example, token, head * width]
        plain: States = projection.output(contexts.flatten(2))
        if not projection.heads:
            return lambda chosen: repeated(plain, len(chosen))
        # [example_token, head, width]
        change = (self._replaced[layer] - contexts).flatten(0, 1)
        # [output, head, width]
        mixed = weight(projection.output).unflatten(1, (projection.heads, projection.width))

        def outputs(chosen: Bool[np.ndarray, "variant head"]) -> States:
            stacked = repeated(plain, len(chosen))
            for outputs_of_set, disabled in zip(stacked.chunk(len(chosen)), chosen, strict=True):
                if heads := np.flatnonzero(disabled[: projection.heads]).tolist():
                    # [example_token, output] += [example_token, heads_width] @ [heads_width, output]
                    outputs_of_set.flatten(0, 1).addmm_(change[:, heads].flatten(1), mixed[:, heads].flatten(1).T)
            return stacked

        return outputs

    def _layer(self, layer: int, states: States, call: Call, disabled: Bool[np.ndarray, " head"]) -> States:
        """The output states of a layer with the heads in `disabled` disabled."""
        heads = np.flatnonzero(disabled[: self.projections[layer].heads]).tolist()

        def attend(
            module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **keywords: Any
        ) -> tuple[Contexts, None]:
            contexts, _ = fused(module, query, key, value, attention_mask, **keywords)
            contexts[:, :, heads] = self.replacements[layer](value, attention_mask)[:, :, heads]
            return contexts, None

        with attending(attend if heads else fused):
            return self.stack.run(layer, states, call)

    def _answers(self, states: States, variants: int) -> Iterator[Tensor]:
        """The logits of each variant from the output of the last layer; one by one to save memory."""
        for chunk in states.chunk(variants):
            yield self.stack.finish(self.inputs, chunk).logits

    def _answers_at(
        self, rows: Int[Tensor, "example row"], states: States, call: Call, disabled: Bool[np.ndarray, "variant head"]
    ) -> tuple[Tensor, ...]:
        """The logits of each variant from the input of the last layer, which runs for the tokens in `rows` alone."""
        variants, projection = len(states) // len(rows), self.projections[-1]
        heads = torch.from_numpy(disabled[:, : projection.heads]).to(states.device)
        heads = heads.repeat_interleave(len(states) // len(heads), dim=0)
        with attending(LastLayerRows(projection, states, heads, self.replacements[-1])):
            states = self.stack.run(len(self.stack.layers) - 1, at(states, repeated(rows, variants)), call)
        inputs = {name: repeated(at(tensor, rows), variants) for name, tensor in self.inputs.items()}
        return self.stack.finish(inputs, states).logits.chunk(variants)


def with_attention_output(
    stack: Stack, projections: Projections, layer: int, states: States, call: Call, output: States
) -> States:
    """The output states of a layer for a given output of its output projection; its attention is not computed."""
    maps = (projections.query, projections.key, projections.value)
    skipped = {module: partial(_zeros, weight(module).shape[0]) for module in maps}
    with instead(skipped | {projections.output: lambda contexts: output}), attending(nothing):
        return stack.run(layer, states, call)


def repeated(tensor: Float[Tensor, "example *dims"], variants: int) -> Float[Tensor, "variant_example *dims"]:
    """The examples once for each variant, one variant after the other."""
    return tensor.repeat(variants, *[1] * (tensor.ndim - 1))


def _zeros(width: int, states: States) -> States:
    """Zeros in the shape of the output of a linear map to `width` numbers."""
    return states.new_zeros(()).expand(*states.shape[:-1], width)
