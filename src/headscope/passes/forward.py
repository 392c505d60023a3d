"""The forward passes of a model, batch by batch, which several readers of attention and of hidden states may share.

A batch that was run last is not run again: whoever reads it next finds what it has shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from headscope.capture.attention_switch import fast
from headscope.capture.eager import short_input
from headscope.capture.fused_statistics import NeedsMap
from headscope.capture.layer_stack import stack
from headscope.capture.spread import home, is_spread
from headscope.capture.watch import Enough
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes.batches import Check, StateBatch, collator
from headscope.passes.observing import BatchObserver, FiniteAttention, MeasureObserver, RowsObserver
from headscope.passes.settings import nothing

Seen = TypeVar("Seen")
# States that half precision holds, with room for the larger ones of other inputs.
HALF = 1024.0


@dataclass
class _Current:
    """The batch that was run last, whether its attention was shown, and its hidden states if they were read."""

    group: list[Encoded]
    batch: Batch
    shown: bool = False
    check: Check = nothing
    states: Tensor | None = None


class Forward(Generic[Seen]):
    """The forward passes of a model for one reader: an observer of attention, or a reader of hidden states.

    Attention and states come from a pass each, so that numbers are the same whoever else reads.

    * `shared`: runs the batches in the place of this one; see `share`.
    """

    def __init__(self, model: Model, observer: BatchObserver[Seen] | None = None):
        self.model, self.observer = model, observer
        self.shared: Forward[Any] = self
        self._collate, self._current = collator(model), None

    def observe(self, group: list[Encoded]) -> Seen:
        """What the observer has seen of a batch.

        Raises `RuntimeError` if the model computes attention for fewer layers than it has, `HeadscopeError` if
        attention is not finite.
        """
        seen, check = self.soon(group)
        check()
        return seen

    def soon(self, group: list[Encoded]) -> tuple[Seen, Check]:
        """As `observe`, without waiting for the device; the second value raises the error."""
        if self.observer is None:
            raise RuntimeError("nothing observes attention here")
        with torch.inference_mode():
            check = self.shared._show(group)
            return self.observer.finish(), check

    def states(self, group: list[Encoded]) -> StateBatch:
        """The batch; its embeddings, then the output of each layer, without gradients."""
        current, network = self.shared._at(group), self.model.network
        if current.states is None:
            with torch.inference_mode():
                current.states = _stacked(list(hidden_states(network, current.batch.inputs)))
        return current.batch, current.states

    def _at(self, group: list[Encoded]) -> _Current:
        if self._current is None or self._current.group is not group:
            self._current = None  # whose memory is then free for the next one
            self._current = _Current(group, self._collate(group))
        return self._current

    def _show(self, group: list[Encoded]) -> Check:
        current = self._at(group)
        if self.observer is not None and not current.shown:
            current.check, current.shown = _show(self.model, self.observer, current.batch), True
        return current.check


def _show(model: Model, observer: BatchObserver[Any], batch: Batch) -> Check:
    """Run a batch under an observer: by fused kernels where measures and model do without maps, else in blocks."""
    observer.start(batch)
    if isinstance(observer, MeasureObserver):
        observer.needs_map = observer.needs_map or model.needs_map
        if not observer.needs_map:
            try:
                with observer.fusing(model.capture.heads):
                    check = _run(model, observer, batch)
                return check
            except NeedsMap as reason:
                observer.needs_map = str(reason)
                observer.start(batch)
    return _run(model, observer, batch)


def _run(model: Model, observer: BatchObserver[Any], batch: Batch) -> Check:
    """Run a batch under an observer, up to the attention of the last layer.

    What follows there is read by nobody: an eighth of the work in a model of six layers. A model that is spread over
    devices runs to its end, since each of its parts is then put back.
    """
    finite, layers = FiniteAttention(model, observer), len(model.capture.heads)
    finite.start(batch)
    with model.observed(finite) as watch:
        watch.enough = None if is_spread(model.network) else layers
        with suppress(Enough):
            model.network(**batch.inputs)
        if watch.calls != layers:
            raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
        return finite.later()


def _stacked(states: list[Tensor]) -> Tensor:
    """States of all layers as one tensor; each is freed as it is copied."""
    together = states[0].new_empty((len(states), *states[0].shape))
    for layer in reversed(range(len(states))):
        together[layer] = states.pop()
    return together


def share(forwards: Sequence[Forward[Any]]) -> None:
    """Let several readers share the forward passes of the first one's model: each batch is run once for all of them."""
    observers = [forward.observer for forward in forwards if forward.observer is not None]
    shared = Forward(forwards[0].model, RowObservers(observers) if observers else None)
    for forward in forwards:
        forward.shared = shared


class RowObservers(RowsObserver):
    """Several observers of rows, which share what is computed from a block."""

    def __init__(self, observers: Sequence[Any]):
        self.observers = observers

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        self.batch = batch
        for observer in self.observers:
            observer.start(batch)

    def add(self, layer: int, rows: Rows) -> None:
        for observer in self.observers:
            observer.add(layer, rows)

    def finish(self) -> None:
        """See `BatchObserver`; each observer is asked by its own reader."""


@contextmanager
def observing(model: Model, observer: BatchObserver[Seen]) -> Iterator[Callable[[list[Encoded]], Seen]]:
    """A context whose function runs a batch of inputs under an observer, as `Forward.observe`."""
    with torch.inference_mode():
        yield Forward(model, observer).observe


def hidden_states(
    network: PreTrainedModel, inputs: Mapping[str, Tensor]
) -> tuple[Float[Tensor, "example token width"], ...]:
    """Run a forward pass; return the embeddings that enter the first layer, then the output of each layer.

    The last layer's are those after the final normalisation, where a model has one; where a linear map makes an
    embedding of another width of them (OPT, EmbeddingGemma 2), those before it. A task head is not run.

    Raises `HeadscopeError` for a model whose layers have different widths.
    """
    with fast(network), _mapped(network.base_model) as maps:
        *states, last = network.base_model(**inputs, output_hidden_states=True).hidden_states
    states.append(next((entered for entered, left in maps if left is last), last))
    if len({state.shape[-1] for state in states}) > 1:
        kind, widths = network.config.model_type, sorted({state.shape[-1] for state in states})
        raise HeadscopeError(f"model type '{kind}': its layers have different widths {widths}; use another model")
    return tuple(state.to(home(network)) for state in states)


def half_scales(model: Model) -> Float[Tensor, " space"]:
    """A power of 2 for each space by which its states are multiplied, so that half precision holds them.

    It is 1 where states of a short input are below `HALF`; Gemma 3 has states of 99,810, half precision ends at 65,504.
    """
    with torch.inference_mode():
        states = hidden_states(model.network, short_input(model.network))
    largest = torch.stack([state.abs().max().float() for state in states])
    return torch.exp2(-(largest / HALF).log2().ceil().clamp_min(0))


def normalised_at_the_end(model: Model) -> bool:
    """Whether the states of the last layer, as `hidden_states` has them, are normalised once more after it."""
    layers, inputs = stack(model.network, len(model.capture.heads)), short_input(model.network)
    if layers is None:
        return False
    left: list[Any] = []
    with torch.inference_mode():
        hook = layers.layers[-1].register_forward_hook(lambda module, args, output: left.append(output))
        last = hidden_states(model.network, inputs)[-1]
        hook.remove()
    return not torch.allclose(left[0].to(last), last, rtol=1e-4, atol=1e-4)


@contextmanager
def _mapped(network: nn.Module) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Within this context the inputs and outputs of linear maps between two widths, but those of layers, are listed."""
    seen: list[tuple[Tensor, Tensor]] = []
    maps = [
        module
        for path, module in network.named_modules()
        if isinstance(module, nn.Linear)
        and module.in_features != module.out_features
        and not any(map(str.isdecimal, path.split(".")))
    ]

    def see(module: nn.Module, entered: tuple[Tensor, ...], left: Tensor) -> None:
        seen.append((entered[0], left))

    with ExitStack() as hooks:
        for module in maps:
            hooks.callback(module.register_forward_hook(see).remove)
        yield seen
