"""A worker of a cluster that ends itself in the middle of a training."""

import os
import signal
from pathlib import Path
from typing import Any

from headscope.front.cli import compute
from headscope.training import RunRecord, trainer

# The file that names the run in which a worker dies, once.
VICTIM = "victim"


def work(job: bytes, engine: Any) -> None:
    """Run a study in a worker, with a checkpoint after each step; it dies at the third one of the named run."""
    keep = RunRecord.keep_checkpoint

    def ending(self: RunRecord, step: int) -> None:
        keep(self, step)
        if step > 2 and Path(VICTIM).exists() and self.folder.name == Path(VICTIM).read_text():
            Path(VICTIM).unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    trainer.CHECKPOINT_SECONDS, RunRecord.keep_checkpoint = 0.0, ending  # type: ignore[method-assign]
    compute.work(job, engine)
