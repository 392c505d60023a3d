"""States of one text put into another: which of them bring back what the first one predicts (activation patching).

Meng et al. 2022, section 2: states by layer and token; Wang et al. 2022: outputs of heads; Heimersheim and Nanda 2024.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headscope.capture.attention_switch import fast
from headscope.capture.layer_stack import Stack, instead
from headscope.capture.projections import Projections, at_contexts
from headscope.models.feed_forward import entering
from headscope.outputs.words.few_tokens import reads_together
from headscope.passes.settings import Settings
from headscope.results.variables import by_layer
from headscope.studies.layers.lens.text_pair import TextPair

Rows = Int[Tensor, " row"]
States = Float[Tensor, "token width"]


def patched(pair: TextPair, stack: Stack, settings: Settings) -> dict[str, Float[np.ndarray, "*dims"]]:
    """How much of the lead of the first answer comes back, 1 for all of it, by the names of the numbers.

    The second text is read with states of the first: those that enter a layer, at one token; or the output of one
    head, at all tokens or at the one that predicts.
    """
    model, ids = pair.model, torch.from_numpy(pair.ids)
    (states, contexts), (replaced, _) = (_states_and_contexts(pair, stack, row) for row in (0, 1))
    first, second = pair.lead(ids).double().tolist()
    rows = min(max(1, settings.batch_tokens // ids.shape[1]), reads_together(model))

    def restored(number: int, layer: int, put: Callable[[Rows], AbstractContextManager[object]]) -> np.ndarray:
        """How much comes back in each of this many copies of the second text, with a change in a layer."""
        leads = [np.zeros(0)]
        for copies in torch.arange(number).split(rows) if number else ():
            with _entering(stack, layer, replaced[layer].expand(len(copies), -1, -1)), put(copies):
                leads.append(pair.lead(ids[1:].expand(len(copies), -1)).double().cpu().numpy())
            settings.on_progress(len(copies))
        return (np.concatenate(leads) - second) / (first - second)

    def by_head(tokens: slice) -> Float[np.ndarray, "layer head"]:
        layers = [
            restored(maps.heads, layer, partial(_with_heads, maps, contexts[layer], tokens))
            for layer, maps in enumerate(model.projections)
        ]
        return by_layer(np.concatenate(layers), model.capture.heads)

    by_state = [
        restored(ids.shape[1], layer, partial(_with_states, module, states[layer]))
        for layer, module in enumerate(stack.layers)
    ]
    last = slice(pair.token, pair.token + 1)
    return {
        "restored_by_state": np.stack(by_state),
        "restored_by_head": by_head(slice(None)),
        "restored_by_last": by_head(last),
        "text_lead": np.array(first),
        "against_lead": np.array(second),
    }


def runs(pair: TextPair) -> int:
    """How many copies of the second text are read."""
    heads = pair.model.capture.heads
    return pair.ids.shape[1] * len(heads) + 2 * sum(heads)


def _states_and_contexts(pair: TextPair, stack: Stack, row: int) -> tuple[list[States], list[States]]:
    """What enters each layer when a text of the pair is read, and what its heads put out side by side."""
    contexts, ids = dict[int, Tensor](), torch.from_numpy(pair.ids[row : row + 1]).to(pair.model.device)

    def keep(layer: int, values: Tensor) -> None:
        contexts[layer] = values[0]

    network: Any = pair.model.network
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.inference_mode(), fast(network), at_contexts(network, pair.model.projections, keep):
        calls, _ = stack.calls(inputs, head=False)
    return [call.states[0] for call in calls], [contexts[layer] for layer in range(len(calls))]


def _entering(stack: Stack, layer: int, states: Float[Tensor, "copy token width"]) -> AbstractContextManager[None]:
    """Context in which states enter a layer, from 0, and those below are not run; the first layer has its own."""
    below: dict[nn.Module, Any] = dict.fromkeys(stack.layers[:layer], lambda states, *_, **__: states)
    if layer:
        below[stack.layers[layer - 1]] = lambda *_, **__: states
    return instead(below)


def _with_states(layer: nn.Module, first: States, tokens: Rows) -> AbstractContextManager[None]:
    """Context in which copy n enters a layer with the state of the first text at its token, the nth of `tokens`."""
    forward = layer.forward

    def run(states: Tensor, *arguments: Any, **keywords: Any) -> Any:
        states = states.clone()
        states[torch.arange(len(tokens)), tokens] = first[tokens]
        return forward(states, *arguments, **keywords)

    return instead({layer: run})


def _with_heads(maps: Projections, first: States, tokens: slice, heads: Rows) -> AbstractContextManager[None]:
    """Context in which copy n has the output of a head, the nth of `heads`, of the first text at some tokens."""

    def put(_: int, contexts: Tensor) -> Tensor:
        split, values = (tensor.unflatten(-1, (maps.heads, maps.width)) for tensor in (contexts.clone(), first))
        split[torch.arange(len(heads)), tokens, heads] = values[tokens, heads].transpose(0, 1)
        return split.flatten(-2)

    return entering([maps.output], put)
