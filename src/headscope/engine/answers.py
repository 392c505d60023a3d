"""What a model answers to the questions of a task, by plain forward passes."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headscope.capture.fused_attention import fast
from headscope.engine.batches import by_length
from headscope.engine.settings import DEFAULTS, Settings
from headscope.engine.task_inputs import Asked


def answered(asked: Asked, settings: Settings = DEFAULTS) -> Float[np.ndarray, "example output"]:
    """What the task's metrics are made of, in the order of the corpus: logits, or sums of losses over masked words.

    Raises `HeadscopeError` if they are not numbers, or the task head is one for another kind of task.
    """
    found: dict[int, np.ndarray] = {}
    with torch.inference_mode(), fast(asked.model.network):
        for group in by_length(asked.inputs, settings.batch_tokens, settings.seed):
            batch = asked.batch(group, settings)
            answer: Any = asked.model.network(**batch.inputs)
            found |= zip(batch.index, batch.outputs(answer.logits), strict=True)
            settings.on_progress(len(group))
    return np.stack([found[index] for index in sorted(found)])
