"""A sweep that is killed at random moments, and started again, ends with the same numbers to the bit."""

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import torch

from headscope import Settings, load
from headscope.ablation.journal import opened
from headscope.ablation.sweep import Sweep, sweep
from headscope.engine.task_inputs import task_inputs
from headscope.studies.ablate.fingerprint import fingerprint
from headscope.tasks import read
from support.planted_task import planted_classifier, write_planted_task
from support.tiny import save_tiny

BATCH_TOKENS = 16


def swept(model: Path, task: Path, journal: Path, pause: float = 0.0) -> Sweep:
    settings = Settings(batch_tokens=BATCH_TOKENS, on_progress=lambda done: time.sleep(pause))
    chosen = read("birds", task)
    one = task_inputs(load(str(model), head=True), chosen, chosen.dev)
    with opened(journal, fingerprint(one, settings)) as found:
        return sweep(one, settings, journal=found)


def started(*folders: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen([sys.executable, __file__, *map(str, folders)], env=os.environ | {"PYTHONPATH": path})


def test_killed_at_random_moments(tmp_path: Path) -> None:
    model, task = save_tiny(tmp_path / "model", planted_classifier()), write_planted_task(tmp_path / "task")
    threads, random, sizes = torch.get_num_threads(), Random(0), [0]
    try:
        torch.set_num_threads(1)
        expected = swept(model, task, tmp_path / "whole")
    finally:
        torch.set_num_threads(threads)
    journal = tmp_path / "journal"
    for _ in range(2):
        process = started(model, task, journal)
        while not (journal.is_file() and journal.stat().st_size > sizes[-1] + 1):
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        assert process.wait() == -9
        sizes.append(journal.stat().st_size)
    assert sizes[1] < sizes[2] < (tmp_path / "whole").stat().st_size
    assert started(model, task, journal).wait() == 0
    with np.load(journal.with_suffix(".npz")) as found:
        for name in ("plain", "heads", "layers"):
            assert found[name].tobytes() == getattr(expected, name).tobytes()
    assert sorted(journal.read_bytes().split(b"\n")) == sorted((tmp_path / "whole").read_bytes().split(b"\n"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    model, task, journal = map(Path, sys.argv[1:])
    result = swept(model, task, journal, pause=0.01)
    np.savez(journal.with_suffix(".npz"), plain=result.plain, heads=result.heads, layers=result.layers)
