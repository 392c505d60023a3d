"""Outputs of a model for each example, by plain forward passes: of its task head, or at masked words alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedModel

from headscope.capture.attention_switch import fast
from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import IGNORED
from headscope.models import Model
from headscope.outputs.losses import collated, log_probabilities
from headscope.outputs.task_inputs import TaskInputs
from headscope.outputs.words.few_tokens import chosen_states, within_memory
from headscope.passes.batches import by_length, collator
from headscope.passes.settings import DEFAULTS, Settings

Outputs = Float[np.ndarray, "example output"]


def task_outputs(task_inputs: TaskInputs, settings: Settings = DEFAULTS) -> Outputs:
    """The numbers from which the task's metrics are computed, in the order of the corpus (see `TaskBatch.outputs`).

    Raises `HeadscopeError` if they are not finite, or the task head is one for another kind of task.
    """
    network: Any = task_inputs.model.network

    def outputs(group: list[Encoded]) -> Outputs:
        batch = task_inputs.batch(group)
        return batch.outputs(network(**batch.inputs).logits)

    settings = within_memory(settings, task_inputs)
    return task_inputs.by_example(in_order(network, task_inputs.inputs, outputs, settings))


def logits(model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS) -> Outputs:
    """The logits of the inputs in the order of their numbers, finite or not."""
    network: Any = model.network
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Outputs:
        return network(**collate(group).inputs).logits.to(torch.float32).cpu().numpy()

    return in_order(network, inputs, outputs, settings)


def answers(task_inputs: TaskInputs, model: Model, settings: Settings = DEFAULTS) -> Float[np.ndarray, "example 2"]:
    """F1 and exact match of the span that a model with two logits for each token answers to each question."""
    network: Any = model.network
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Outputs:
        answered = network(**collate(group).inputs)
        both = torch.stack([answered.start_logits, answered.end_logits]).float().cpu().numpy()
        rows = enumerate(task_inputs.passages[encoded.index] for encoded in group)
        spans = ((passage, both[:, row, : len(passage.tokens)]) for row, passage in rows)
        return np.array([passage.scores(passage.answer(*logits)) for passage, logits in spans], np.float32)

    return in_order(network, task_inputs.inputs, outputs, settings)


def in_order(
    network: PreTrainedModel, inputs: Iterable[Encoded], outputs: Callable[[list[Encoded]], Outputs], settings: Settings
) -> Outputs:
    """The outputs of all inputs, computed in groups of similar length, in the order of their numbers."""
    rows: dict[int, np.ndarray] = {}
    with torch.inference_mode(), fast(network):
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            rows |= zip((encoded.index for encoded in group), outputs(group), strict=True)
            settings.on_progress(len(group))
    return np.stack([rows[index] for index in sorted(rows)])


def masked_logits(
    network: Any, inputs: Mapping[str, Tensor], targets: Int[Tensor, "example token"], *, multiple: int = 1
) -> tuple[Float[Tensor, "masked piece"], Int[Tensor, " masked"]]:
    """Logits of the masked tokens, and the pieces; the head computes no others, which saves most of its time.

    * `network`: a network with a masked-language head, which reads each hidden state by itself.
    * `multiple`: the number of masked tokens is padded to a multiple of it, with the piece `IGNORED`.
    """
    hidden = targets != IGNORED
    padding = -int(hidden.sum()) % multiple

    def at_masks(states: Float[Tensor, "example token width"]) -> Float[Tensor, "1 masked width"]:
        # [example, token, width] -> [masked, width]
        return pad(states[hidden.to(states.device)], (0, 0, 0, padding))[None]

    with chosen_states(network.base_model, at_masks):
        logits = network(**inputs).logits[0]
    return logits, pad(targets[hidden], (0, padding), value=IGNORED).to(logits.device)


def masked_outputs(
    model: Model, inputs: Sequence[Encoded], pieces: Sequence[Int[np.ndarray, " token"]], settings: Settings = DEFAULTS
) -> Float[np.ndarray, "example 3"]:
    """For each masked input: the summed loss in nats, the number of masked tokens, of those predicted right."""
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Float[np.ndarray, "example 3"]:
        batch = collate(group)
        targets = collated([pieces[encoded.index] for encoded in group], model.device)
        logits, answers = masked_logits(model.network, batch.inputs, targets)
        loss = -log_probabilities(logits, answers)
        values = torch.stack([loss, torch.ones_like(loss), (logits.argmax(-1) == answers).float()], dim=1)
        example = (targets != IGNORED).nonzero()[:, 0].to(values.device)
        return values.new_zeros(len(group), 3).index_add_(0, example, values).cpu().numpy()

    return in_order(model.network, inputs, outputs, settings)
