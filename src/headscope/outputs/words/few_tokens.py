"""Logits of a network at a few tokens of each input, computed by as little of it as is exact."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.attention_switch import fast, switchable
from headscope.capture.first_exact import first_exact, first_layer_once
from headscope.capture.last_layer_rows import last_layer_at
from headscope.capture.layer_stack import stack
from headscope.models import Model
from headscope.models.words_head import is_causal
from headscope.outputs.words.inputs import PredictedPieces

Logits = Float[Tensor, "read piece"]
# The logits at each read of some inputs.
Reader = Callable[[PredictedPieces], Logits]


def fastest_reader(model: Model, *, any_tokens: bool = False) -> Reader:
    """The reader that computes least of those that are exact for a short input.

    * `any_tokens`: read any tokens; else a masked model has to be read at one token of each input, in their order.
    """
    part = _trial(model)
    makers = (head_alone,) if any_tokens or is_causal(model) else (ends_alone, last_layer_alone, head_alone)
    with torch.inference_mode():
        return first_exact(
            [partial(make, model) for make in makers], lambda read: read(part), all_tokens(model), model.network.dtype
        )[0]


def all_tokens(model: Model) -> Reader:
    """A reader that computes the logits of all tokens."""

    def read(part: PredictedPieces) -> Logits:
        with fast(model.network):
            return _logits(model, part)[part.row, part.token]

    return read


def head_alone(model: Model) -> Reader:
    """A reader that passes the states of the tokens that are read to the head, and no others."""
    network: Any = model.network

    def read(part: PredictedPieces) -> Logits:
        with fast(network), chosen_states(network.base_model, lambda states: states[part.row, part.token][None]):
            return _logits(model, part)[0]

    return read


def last_layer_alone(model: Model) -> Reader:
    """A reader that runs the last layer for the tokens that are read: one of each input, in their order.

    Raises `HeadscopeError` for a model without the linear maps of attention, `LookupError` if its layers are no stack.
    """
    layers, projections = stack(model.network, len(model.capture.heads)), model.projections
    if layers is None:
        raise LookupError("the layers are not called one after the other")

    def read(part: PredictedPieces) -> Logits:
        rows = torch.from_numpy(part.token[:, None]).to(model.device)
        with switchable(model.network), last_layer_at(layers, projections[-1], rows):
            return _logits(model, part)[:, 0]

    return read


def ends_alone(model: Model) -> Reader:
    """A reader like `last_layer_alone` that also makes equal queries, keys and values of the first layer once."""
    read = last_layer_alone(model)

    def read_once(part: PredictedPieces) -> Logits:
        with first_layer_once(model.projections[0], part.ids):
            return read(part)

    return read_once


@contextmanager
def chosen_states(base: nn.Module, choose: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within this context the last hidden states of the base model are replaced by those that are chosen."""

    def replaced(module: nn.Module, args: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (choose(output[0]), *output[1:])
        output["last_hidden_state"] = choose(output["last_hidden_state"])
        return output

    handle = base.register_forward_hook(replaced)
    try:
        yield
    finally:
        handle.remove()


def _logits(model: Model, part: PredictedPieces) -> Float[Tensor, "row token piece"]:
    network: Any = model.network
    return network(**part.inputs(model.device, network.dtype)).logits


def _trial(model: Model) -> PredictedPieces:
    """Two short inputs that differ at their end, and what is read: one token of each input of a masked model."""
    ids = np.resize(sorted(model.tokenizer.get_vocab().values())[-5:], 5)[[[0, 1, 2, 3], [0, 1, 2, 4]]]
    row, token = ([0, 1, 1], [2, 0, 3]) if is_causal(model) else ([0, 1], [2, 3])
    none = np.zeros(0, int)
    return PredictedPieces(ids, np.array(row), np.array(token), none, none, none)
