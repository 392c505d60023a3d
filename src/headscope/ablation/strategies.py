"""How passes with heads disabled are made: the fastest way that gives what whole forward passes give."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.ablation.attention_switch import switchable
from headscope.ablation.layer_stack import stack
from headscope.ablation.partial_rerun import Rerun
from headscope.ablation.replacements import replacements
from headscope.capture.interventions import Mode
from headscope.capture.self_check import TOLERANCE
from headscope.capture.transformers_logging import quiet
from headscope.engine.settings import Settings
from headscope.engine.task_inputs import Asked, Batch
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing

WHOLE = "full forward passes"
RERUN = "from the layer of the disabled head"
ROWS = "from the layer of the disabled head, the last layer for the tokens that are read"
# Largest difference from full passes, as a share of the largest output (at least of 1).
CLOSE = TOLERANCE | {torch.float32: 1e-5}

Inputs = Mapping[str, Int[Tensor, "example token"]]
Means = Float[np.ndarray, "layer head width"] | None


class Passes(Protocol):
    """Forward passes of one batch; see `Rerun`."""

    def start(self) -> Float[Tensor, "example ..."]:
        """The logits with all heads."""
        ...

    def disabled(
        self, layer: int, chosen: Bool[np.ndarray, "variant head"], above: Bool[np.ndarray, "layer head"]
    ) -> Iterator[Float[Tensor, "example ..."]]:
        """The logits of variants without some heads of a layer, and all of them without those of `above`."""
        ...


@dataclass(frozen=True)
class Whole:
    """Full forward passes with the attention intervened in: for any model, and what other ways are checked against."""

    model: Model
    mode: Mode
    means: Means
    inputs: Inputs

    def start(self) -> Float[Tensor, "example ..."]:
        """See `Passes`; raises `HeadscopeError` if the model has no task head."""
        answer: Any = self.model.network(**self.inputs)
        if "logits" not in answer:
            raise HeadscopeError(f"model '{self.model.name}' has no task head; name one that was trained on the task")
        return answer.logits

    def disabled(
        self, layer: int, chosen: Bool[np.ndarray, "variant head"], above: Bool[np.ndarray, "layer head"]
    ) -> Iterator[Float[Tensor, "example ..."]]:
        """See `Passes`."""
        for heads in chosen:
            every = above.copy()
            every[layer] |= heads
            with self.model.changed(every, self.mode, self.means):
                yield self.start()


@dataclass(frozen=True)
class Way:
    """How the passes of a batch are made.

    * `name`: in words; `around`: the context for it.
    * `rows`: whether variants give the logits of `Batch.read` alone.
    """

    name: str
    make: Callable[[Inputs, Int[Tensor, "example row"] | None], Passes]
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    rows: bool = False

    def on(self, batch: Batch) -> "Outputs":
        """The passes of a batch."""
        rows = batch.read if self.rows else None
        return Outputs(batch, rows, self.make(batch.inputs, rows))


@dataclass(frozen=True)
class Outputs:
    """The passes of a batch, as outputs."""

    batch: Batch
    rows: Int[Tensor, "example row"] | None
    passes: Passes

    def plain(self) -> Float[np.ndarray, "example output"]:
        """With all heads; comes first."""
        return self.batch.outputs(self.passes.start())

    def disabled(
        self, layer: int, chosen: Bool[np.ndarray, "variant head"], above: Bool[np.ndarray, "layer head"]
    ) -> Float[np.ndarray, "variant example output"]:
        """Without some heads, see `Passes`."""
        return np.stack(
            [self.batch.outputs(logits, self.rows) for logits in self.passes.disabled(layer, chosen, above)]
        )


def choose(asked: Asked, mode: Mode, means: Means, settings: Settings) -> Way:
    """The fastest way that gives, on a padded batch of few inputs, what full passes give.

    If none does, full passes, whose name then says why.
    """
    whole = Way(WHOLE, lambda inputs, rows: Whole(asked.model, mode, means, inputs))
    ordered = sorted(asked.inputs, key=len)
    few = list({encoded.index: encoded for encoded in (ordered[0], ordered[len(ordered) // 2], ordered[-1])}.values())
    with torch.inference_mode(), quiet():
        batch = asked.batch(few, replace(settings, batch_tokens=sys.maxsize))
        expected, reason = _tried(whole, batch), "its layers are not called one after the other"
        for way in _faster(asked.model, mode, means):
            try:
                reason = _difference(_tried(way, batch), expected, CLOSE[asked.model.network.dtype])
            except Exception as error:  # whatever a model does with a layer that is called in another way
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
            if not reason:
                return way
    return replace(whole, name=f"{WHOLE}: {reason}")


def _faster(model: Model, mode: Mode, means: Means) -> list[Way]:
    """Other ways than full passes, the fastest first."""
    found = stack(model.network, len(model.capture.heads))
    if found is None:
        return []
    projections = model.projections
    instead = replacements(mode, projections, means)

    def make(inputs: Inputs, rows: Int[Tensor, "example row"] | None) -> Rerun:
        return Rerun(found, projections, instead, inputs, rows)

    around = partial(switchable, model.network)
    return [Way(ROWS, make, around, rows=True), Way(RERUN, make, around)]


def _tried(way: Way, batch: Batch) -> Float[np.ndarray, "trial example output"]:
    """The outputs with all heads, without some of the first layer, of several, and of the last."""
    heads = batch.asked.model.capture.heads
    none, some = np.zeros((len(heads), max(heads)), dtype=bool), existing(heads)
    some[:, 1::2] = False
    above = some.copy()
    above[0] = False
    with way.around():
        outputs = way.on(batch)
        plain = outputs.plain()[None]
        first, last = (outputs.disabled(layer, some[[layer]], none) for layer in (0, len(heads) - 1))
        return np.concatenate([plain, first, last, outputs.disabled(0, some[[0]], above)])


def _difference(found: np.ndarray, expected: np.ndarray, close: float) -> str:
    """What differs; nothing if they are close."""
    furthest = np.abs(found - expected).max()
    return "" if furthest <= close * max(1.0, np.abs(expected).max()) else f"outputs would differ by {furthest:.1e}"
