"""Logits of a network at a few tokens of each input, computed by as little of it as is exact, a few at a time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from headscope.capture.attention_switch import fast, first_exact, first_layer_once, switchable
from headscope.capture.last_layer_rows import at, last_layer_at
from headscope.capture.layer_stack import instead, stack
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.models.tokenizer import rows_of
from headscope.outputs.words.inputs import PredictedPieces
from headscope.passes.settings import Settings

Logits = Float[Tensor, "read piece"]
# The logits at each read of some inputs, in their order, a few reads at a time.
Reader = Callable[[PredictedPieces], Iterator[Logits]]
# Numbers of a vocabulary's logits, or of states of all layers, that are in memory together.
CELLS = 1 << 25


def fastest_reader(model: Model, *, any_tokens: bool = False) -> Reader:
    """The reader that computes least of those that are exact for a short input.

    * `any_tokens`: read any tokens; else a masked model has to be read at one token of each input, in their order.
    """
    part = short_reads(model)
    makers = [partial(head_alone, model)]
    if not (any_tokens or is_causal(model)):
        makers = [partial(last_layer_alone, model, once=True), partial(last_layer_alone, model), *makers]

    def trial(read: Reader) -> Logits:
        return torch.cat(list(read(part)))

    with torch.inference_mode():
        return first_exact(makers, trial, all_tokens(model), model.network.dtype)[0]


def all_tokens(model: Model) -> Reader:
    """A reader that computes the logits of all tokens."""

    def read(part: PredictedPieces) -> Iterator[Logits]:
        with fast(model.network):
            logits = _logits(model, part)
        yield logits[part.row, part.token]

    return read


def head_alone(model: Model) -> Reader:
    """A reader that passes the states of the tokens that are read to the head, and no others."""
    return lambda part: by_head(model, part, lambda states: states[part.row, part.token], fast(model.network))


def last_layer_alone(model: Model, *, once: bool = False) -> Reader:
    """A reader that runs the last layer for the tokens that are read: one of each input, in their order.

    * `once`: also make equal queries, keys and values of the first layer once.

    Raises `HeadscopeError` for a model without the linear maps of attention, `LookupError` if its layers are no stack.
    """
    layers, projections = stack(model.network, len(model.capture.heads)), model.projections
    if layers is None:
        raise LookupError("the layers are not called one after the other")

    @contextmanager
    def few(part: PredictedPieces) -> Iterator[None]:
        rows = torch.from_numpy(part.token[:, None]).to(model.device)
        first = first_layer_once(projections[0], part.ids) if once else nullcontext()
        with switchable(model.network), last_layer_at(layers, projections[-1], rows), first:
            yield

    return lambda part: by_head(model, part, lambda states: states[:, 0], few(part))


def by_head(
    model: Model,
    part: PredictedPieces,
    choose: Callable[[Tensor], Float[Tensor, "read width"]],
    body: AbstractContextManager[None],
) -> Iterator[Logits]:
    """The logits at the states that are chosen of the last layer: layers run once, the head for a few states at a time.

    * `body`: the context in which the layers run.
    """
    base: Any = model.network.base_model
    together, chosen = reads_together(model), list[Tensor]()

    def first_ones(states: Tensor) -> Tensor:
        chosen.append(choose(states))
        return chosen[0][None, :together]

    with body, chosen_states(base, first_ones) as outputs:
        logits = _logits(model, part)[0]
    yield logits
    for states in chosen[0].split(together)[1:]:
        with instead({base: lambda *_, **__: outputs[0]}), chosen_states(base, lambda _, now=states: now[None]):
            logits = _logits(model, part)[0]
        yield logits


def reads_together(model: Model) -> int:
    """The number of tokens whose logits are computed together."""
    return max(1, CELLS // (rows_of(model.network) or 1))


def logits_together(network: PreTrainedModel) -> int:
    """The most tokens of a batch whose logits are in memory together: of a large vocabulary half a gigabyte."""
    has_words = network.get_output_embeddings() is not None
    return max(1, 4 * CELLS // ((has_words and rows_of(network)) or 1))


def copies_together(network: PreTrainedModel, tokens: int, batch_tokens: int) -> int:
    """How many copies of an input run together: the logits at a token of each, held eight times over, fit, too."""
    return max(1, min(batch_tokens // tokens, logits_together(network) // 8))


def with_few_logits(settings: Settings, network: PreTrainedModel, copies: int = 1) -> Settings:
    """Settings with batches whose logits fit into memory; `copies`: how many of them are held at once."""
    return replace(settings, batch_tokens=min(settings.batch_tokens, max(1, logits_together(network) // copies)))


def within_memory(settings: Settings, inputs: Any) -> Settings:
    """Settings with batches whose logits fit into memory, where inputs predict words.

    * `inputs`: of a task (`TaskInputs`), or of a suite (`ItemInputs`).
    """
    return with_few_logits(settings, inputs.model.network) if inputs.masked_pieces else settings


@contextmanager
def chosen_states(base: nn.Module, choose: Callable[[Tensor], Tensor]) -> Iterator[list[Any]]:
    """Within this context the last hidden states of the base model are replaced by those that are chosen.

    Yields: a list, to which its outputs are added.
    """
    outputs: list[Any] = []

    def replaced(module: nn.Module, args: Any, output: Any) -> Any:
        outputs.append(output)
        if isinstance(output, tuple):
            return (choose(output[0]), *output[1:])
        output["last_hidden_state"] = choose(output["last_hidden_state"])
        return output

    handle = base.register_forward_hook(replaced)
    try:
        yield outputs
    finally:
        handle.remove()


def head_at(network: PreTrainedModel, rows: Int[Tensor, "example row"]) -> AbstractContextManager[list[Any]]:
    """Within this context the head gets the last states of the tokens `rows` alone, of each example or its copies."""
    return chosen_states(network.base_model, lambda states: at(states, rows.repeat(len(states) // len(rows), 1)))


def _logits(model: Model, part: PredictedPieces) -> Float[Tensor, "row token piece"]:
    network: Any = model.network
    return network(**part.inputs(model.device, network.dtype)).logits


def short_reads(model: Model) -> PredictedPieces:
    """Two short inputs that differ at their end, and what is read: one token of each input of a masked model."""
    ids = last_pieces(model, 5)[[[0, 1, 2, 3], [0, 1, 2, 4]]]
    row, token = ([0, 1, 1], [2, 0, 3]) if is_causal(model) else ([0, 1], [2, 3])
    none = np.zeros(0, int)
    return PredictedPieces(ids, np.array(row), np.array(token), none, none, none)


def last_pieces(model: Model, number: int) -> Int[np.ndarray, " piece"]:
    """The last pieces of a vocabulary that the model has an embedding of, for a trial; repeated if they are fewer."""
    rows = rows_of(model.network)
    pieces = [piece for piece in model.tokenizer.get_vocab().values() if rows is None or piece < rows]
    return np.resize(sorted(pieces)[-number:], number)
