"""Strategies for forward passes with heads disabled, and the mean outputs that may take the place of heads."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.ablation.partial_rerun import Rerun
from headscope.capture.attention_switch import fast, switchable
from headscope.capture.interventions import Mode, Replacement
from headscope.capture.last_layer_rows import weight
from headscope.capture.layer_stack import Stack, instead, stack
from headscope.capture.projections import Projections, at_contexts
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.words.few_tokens import head_at
from headscope.passes.batches import batches
from headscope.passes.settings import DEFAULTS, Settings

Means = Float[np.ndarray, "layer head width"] | None
Skipped = Literal["", "attention", "layer"]
Last = Literal["last layer", "head for words", ""]
LASTS: tuple[Last, ...] = ("last layer", "head for words", "")
Outputs = Float[np.ndarray, "variant example output"]


@dataclass(frozen=True)
class Variants:
    """Variants of a model with heads disabled.

    * `heads`: the disabled heads of `layer` (from 0) in each variant.
    * `above`: heads of higher layers that are disabled in all variants.
    * `skipped`: what of the layer is left out in place of heads: its "attention", or all of the "layer".
    """

    name: str
    layer: int
    heads: Bool[np.ndarray, "variant head"]
    above: Bool[np.ndarray, "layer head"]
    skipped: Skipped = ""


class SweptBatch(Protocol):
    """Inputs that go through the model together, and the outputs that are read off the logits."""

    @property
    def inputs(self) -> Mapping[str, Int[Tensor, "example token"]]: ...

    @property
    def rows(self) -> Int[Tensor, "example row"]:
        """The tokens that the task head reads."""
        ...

    def outputs(
        self, logits: Float[Tensor, "example ..."], rows: Int[Tensor, "example row"] | None = None
    ) -> Float[np.ndarray, "example output"]:
        """The outputs of each example; `rows`: the tokens of the logits, if not all."""
        ...


class SweptInputs(Protocol):
    """The inputs of a sweep: `TaskInputs`, or the `ItemInputs` of a suite.

    * `masked_pieces`: arrays on which the outputs depend beside the inputs.
    """

    @property
    def model(self) -> Model: ...

    @property
    def inputs(self) -> Sequence[Encoded]: ...

    @property
    def masked_pieces(self) -> Sequence[Int[np.ndarray, " token"]]: ...

    def batch(self, group: Sequence[Encoded]) -> SweptBatch: ...


class Strategy(Protocol):
    """Forward passes with heads disabled; `name` describes the strategy in a result."""

    @property
    def name(self) -> str: ...

    def outputs(self, batch: SweptBatch, parts: Sequence[Variants]) -> Generator[Outputs]:
        """The outputs of a batch with all heads (as one variant), then those of each part's variants.

        Close it if it is not read to its end: the model is changed in between.
        """
        ...


@dataclass(frozen=True)
class FullPasses:
    """Full forward passes that intervene in the attention: for any model, and the reference of other strategies."""

    model: Model
    mode: Mode
    means: Means = None
    name: str = "full forward passes"

    def outputs(self, batch: SweptBatch, parts: Sequence[Variants]) -> Generator[Outputs]:
        """See `Strategy`; raises `HeadscopeError` if the model has no task head."""
        yield batch.outputs(self._forward(batch))[None]
        for part in parts:
            yield np.stack([batch.outputs(logits) for logits in self.logits(batch, part)])

    def logits(self, batch: SweptBatch, part: Variants) -> Iterator[Float[Tensor, "example ..."]]:
        """The logits of each variant."""
        if part.skipped:
            with skipping(self.model, part.layer, part.skipped):
                yield self._forward(batch)
            return
        for heads in part.heads:
            disabled = part.above.copy()
            disabled[part.layer] |= heads
            with self.model.changed(disabled, self.mode, self.means):
                yield self._forward(batch)

    def _forward(self, batch: SweptBatch) -> Float[Tensor, "example ..."]:
        answer: Any = self.model.network(**batch.inputs)
        if "logits" not in answer:
            raise HeadscopeError(f"model '{self.model.name}' has no task head; name one that was trained on the task")
        return answer.logits


@dataclass(frozen=True)
class PartialRerun:
    """Passes that start at the layer of the disabled heads; see `Rerun`.

    * `last`: what runs only for the tokens that are read.
    """

    stack: Stack
    projections: Sequence[Projections]
    replacements: Sequence[Replacement]
    last: Last = ""

    @property
    def name(self) -> str:
        """See `Strategy`."""
        rows = f", the {self.last} for the tokens that are read" if self.last else ""
        return f"from the layer of the disabled head{rows}"

    def outputs(self, batch: SweptBatch, parts: Sequence[Variants]) -> Generator[Outputs]:
        """See `Strategy`."""
        network, rows = self.stack.network, batch.rows if self.last else None
        few, head = (rows if self.last == last else None for last in LASTS[:2])
        rerun = Rerun(self.stack, self.projections, self.replacements, batch.inputs, few)
        with switchable(network), nullcontext() if head is None else head_at(network, head):
            yield batch.outputs(rerun.start(), head)[None]
            for part in parts:
                if part.skipped:
                    yield batch.outputs(rerun.skipped(part.layer, part.skipped == "attention"), head)[None]
                    continue
                variants = rerun.disabled(part.layer, part.heads, part.above)
                yield np.stack([batch.outputs(logits, rows) for logits in variants])


@contextmanager
def skipping(model: Model, layer: int, skipped: Skipped) -> Iterator[None]:
    """Within this context a layer, from 0, or its attention alone, adds nothing to the states that enter it.

    Raises `HeadscopeError` for a model whose layers are not called one after the other.
    """
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        kind = model.network.config.model_type
        raise HeadscopeError(f"model type '{kind}': its layers are not called one after the other; skip none")
    output = model.projections[layer].output
    zeros = {output: lambda contexts: contexts.new_zeros(*contexts.shape[:-1], weight(output).shape[0])}
    with instead(zeros if skipped == "attention" else {layers.layers[layer]: lambda states, *_, **__: states}):
        yield


def head_means(
    model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS
) -> Float[np.ndarray, "layer head width"]:
    """The mean of each head's context vector over all real tokens, each token weighing the same.

    NaN where a layer has fewer or narrower heads than another. One plain forward pass over the inputs.

    Raises `HeadscopeError` for a model whose linear maps are not found.
    """
    layers = model.projections
    sums = [np.zeros((layer.heads, layer.width)) for layer in layers]
    tokens, real = 0, torch.empty(0)

    def add(layer: int, contexts: Tensor) -> None:
        # [example_token] @ [example_token, head * width] -> [head * width]
        total = real.to(contexts).flatten() @ contexts.flatten(0, 1)
        sums[layer] += total.to(torch.float32).cpu().numpy().reshape(sums[layer].shape)

    with torch.inference_mode(), fast(model.network), at_contexts(model.network, layers, add):
        for batch in batches(model, inputs, settings):
            real = batch.real
            tokens += int(real.sum())
            model.network(**batch.inputs)
            settings.on_progress(len(real))
    means = np.full((len(layers), max(layer.heads for layer in layers), max(layer.width for layer in layers)), np.nan)
    for layer, total in enumerate(sums):
        means[layer, : total.shape[0], : total.shape[1]] = total / tokens
    return means
