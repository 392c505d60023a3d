"""The outputs of a model's task head for each example, by plain forward passes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from transformers import PreTrainedModel

from headscope.capture.attention_switch import fast
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.outputs.task_inputs import TaskInputs
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

    return in_order(network, task_inputs.inputs, outputs, settings)


def logits(model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS) -> Outputs:
    """The logits of the inputs in the order of their numbers, finite or not."""
    network: Any = model.network
    collate = collator(model)

    def outputs(group: list[Encoded]) -> Outputs:
        return network(**collate(group).inputs).logits.to(torch.float32).cpu().numpy()

    return in_order(network, inputs, outputs, settings)


def in_order(
    network: PreTrainedModel,
    inputs: Iterable[Encoded],
    outputs: Callable[[list[Encoded]], Outputs],
    settings: Settings,
) -> Outputs:
    """The outputs of all inputs, computed in groups of similar length, in the order of their numbers."""
    rows: dict[int, np.ndarray] = {}
    with torch.inference_mode(), fast(network):
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            rows |= zip((encoded.index for encoded in group), outputs(group), strict=True)
            settings.on_progress(len(group))
    return np.stack([rows[index] for index in sorted(rows)])
