"""A worker of a cluster that ends a process, named in a file, in the middle of a training.

`python -m support.dying_worker NAME WORDS` is a command with such workers: it is killed in the run of that name.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from headscope.front.cli import compute
from headscope.front.cli.app import application
from headscope.training import RunRecord, trainer

# The number of the process to end, 0 for the worker's own, and the name of the run in which that happens.
VICTIM, HANGING = "victim", 60


def work(job: bytes, engine: Any) -> None:
    """Run a study in a worker, with a checkpoint after each step; at the third one of the named run, a process ends."""
    keep = RunRecord.keep_checkpoint

    def ending(self: RunRecord, step: int) -> None:
        keep(self, step)
        if step > 2 and Path(VICTIM).exists():
            number, run = Path(VICTIM).read_text().split()
            if self.folder.name == run:
                Path(VICTIM).unlink()
                os.kill(int(number) or os.getpid(), signal.SIGKILL)
                time.sleep(HANGING)  # Ray ends the workers of a command that is gone

    trainer.CHECKPOINT_SECONDS, RunRecord.keep_checkpoint = 0.0, ending  # type: ignore[method-assign]
    compute.work(job, engine)


if __name__ == "__main__":
    compute.ENTRY = "support.dying_worker:work"
    Path(VICTIM).write_text(f"{os.getpid()} {sys.argv[1]}")
    application(sys.argv[2:])(sys.argv[2:])
