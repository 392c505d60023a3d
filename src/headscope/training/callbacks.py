"""Outputs after each epoch, checkpoints and progress, as a callback of the Trainer."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from transformers import TrainerCallback

from headscope.errors import HeadscopeError
from headscope.training.run_record import RunRecord

# Least time between two checkpoints, for each second that the digest of one takes: less than 1% of a run.
CHECKPOINT_SECONDS = 120.0
DevOutputs = Callable[[], Float[np.ndarray, "example output"]]


class EpochRecorder(TrainerCallback):
    """Records the dev outputs after each epoch, writes checkpoints, and reports progress.

    * `record`: the folder of the run.
    * `dev_outputs`: computes the network's outputs for the dev examples.
    * `epoch_done`: called with the number of the epoch, from 1.
    * `progress`: called with the number of steps since the last call.
    """

    def __init__(
        self,
        record: RunRecord,
        dev_outputs: DevOutputs,
        epoch_done: Callable[[int], None],
        progress: Callable[[int], None],
    ):
        self.record, self.dev_outputs, self.epoch_done, self.progress = record, dev_outputs, epoch_done, progress
        self.saved, self.cost = time.monotonic(), 0.0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count the steps of the checkpoint as done."""
        self.progress(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint when it is time; at the end of an epoch this waits for the epoch's outputs."""
        self.progress(1)
        control.should_save = self._is_time() and state.global_step % _steps(state) != 0

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Record the dev outputs of the epoch.

        Raises `HeadscopeError` if an output is not finite: the last step has spoilt the weights.
        """
        epoch, outputs = state.global_step // _steps(state), self.dev_outputs()
        if not np.isfinite(outputs).all():
            raise HeadscopeError(f"outputs after epoch {epoch} are not finite; lower --learning-rate")
        self.record.save_outputs(epoch, outputs)
        self.epoch_done(epoch)
        control.should_save = self._is_time() and state.global_step < state.max_steps

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move the complete checkpoint to its place."""
        started = time.monotonic()
        self.record.keep_checkpoint(state.global_step)
        self.saved = time.monotonic()
        self.cost = self.saved - started

    def _is_time(self) -> bool:
        return time.monotonic() - self.saved >= CHECKPOINT_SECONDS * max(1.0, self.cost)


def _steps(state: Any) -> int:
    """Steps of one epoch."""
    return state.max_steps // state.num_train_epochs
