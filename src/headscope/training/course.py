"""The course of a training: loss and attention on held-out inputs at some of its steps."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback, TrainerState

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.batches import by_length
from headscope.passes.forward import Forward
from headscope.passes.observing import MeasureObserver
from headscope.training.head_numbers import MEASURES, shares
from headscope.training.loop import plain_forward
from headscope.training.run_record import RunRecord

COURSE = "course"


class CourseRecorder(TrainerCallback):
    """Records numbers of the network before the training and after some steps, and keeps them with the run at its end.

    They stand in `state.log_history`, so that checkpoints hold them; the time that they take is no time of a step.
    """

    def __init__(self, record: RunRecord, steps: Iterable[int], numbers: Callable[[], dict[str, Any]]):
        self.record, self.steps, self.numbers = record, frozenset(steps), numbers

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Read the untrained network, unless the training goes on from a checkpoint."""
        if state.global_step == 0:
            state.log_history.append({"step": 0, COURSE: self.numbers()})  # type: ignore[dict-item]

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Read the network after one of the steps."""
        if state.global_step in self.steps:
            state.log_history[-1] |= {COURSE: self.numbers()}  # type: ignore[operator]

    def on_train_end(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        """Keep the numbers of all steps, one after the other."""
        entries: list[Any] = [entry for entry in state.log_history if COURSE in entry]
        names = entries[0][COURSE] if entries else {}
        arrays = {name: np.array([entry[COURSE][name] for entry in entries]) for name in names}
        self.record.save_heads(arrays | {"step": np.array([entry["step"] for entry in entries])})


def attention_numbers(model: Model, inputs: Sequence[Encoded], settings: Settings) -> dict[str, list]:
    """What the heads of a model look at, as means over inputs; heads of all layers stand in a row.

    * `focus`: shares of attention to the previous token, itself and the next one, then to cls, sep and punct.
    * `entropy`: of the attention of a token, in nats (Clark et al. 2019, section 3).
    """
    forward = Forward(model, MeasureObserver(MEASURES))
    with plain_forward(model.network):
        batches = [forward.observe(group) for group in by_length(inputs, settings.batch_tokens)]
    parts = {
        "focus": [shares(values) for values in batches],
        "entropy": [values["entropy"].values for values in batches],
    }
    return {name: torch.cat(values).double().mean(0).tolist() for name, values in parts.items()}
