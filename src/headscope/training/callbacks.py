"""What happens beside the steps of a training: answers after each epoch, checkpoints, progress."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from transformers import TrainerCallback

from headscope.errors import HeadscopeError
from headscope.training.run_record import Journal

# A checkpoint is written when so much time has passed, or more, since the last.
CHECKPOINT_SECONDS = 120.0
Answer = Callable[[], Float[np.ndarray, "example output"]]


class Keeper(TrainerCallback):
    """Answers the dev examples after each epoch, has checkpoints written now and then, and tells the progress.

    `answer` gives the network's answers; `epoch_done` is told the number of the epoch.
    """

    def __init__(
        self, journal: Journal, answer: Answer, epoch_done: Callable[[int], None], progress: Callable[[int], None]
    ):
        self.journal, self.answer, self.epoch_done, self.progress = journal, answer, epoch_done, progress
        self.saved = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The steps of an interrupted run count as done."""
        self.progress(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """A checkpoint now and then; at the end of an epoch only once the epoch has been answered for."""
        self.progress(1)
        control.should_save = self._is_time() and state.global_step % _steps(state) != 0

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """What the model answers now.

        Raises `HeadscopeError` if that is no number: then the last step has spoilt the weights.
        """
        epoch, outputs = state.global_step // _steps(state), self.answer()
        if not np.isfinite(outputs).all():
            raise HeadscopeError(f"the outputs are no numbers after epoch {epoch}; lower --learning-rate")
        self.journal.answer(epoch, outputs)
        self.epoch_done(epoch)
        control.should_save = self._is_time() and state.global_step < state.max_steps

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The checkpoint is whole."""
        self.journal.checkpointed(state.global_step)
        self.saved = time.monotonic()

    def _is_time(self) -> bool:
        return time.monotonic() - self.saved >= CHECKPOINT_SECONDS


def _steps(state: Any) -> int:
    """The steps of an epoch."""
    return state.max_steps // state.num_train_epochs
