"""A sweep that is killed at random moments, and started again, ends with the same numbers to the bit."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from headscope import Settings, load
from headscope.ablation.sweep import Sweep, sweep
from headscope.corpora.tasks import read
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import pass_journal
from headscope.passes.pass_journal import PassJournal
from headscope.storage.lines import read_lines
from support.planted_task import planted_classifier, write_planted_task
from support.tiny import save_tiny

BATCH_TOKENS = 16


def swept(model: Path, task: Path, journal: Path, on_progress: Callable[[int], None] = lambda done: None) -> Sweep:
    settings = Settings(batch_tokens=BATCH_TOKENS, on_progress=on_progress, journal=PassJournal(journal, {}, kept=True))
    chosen = read("birds", task)
    return sweep(task_inputs(load(str(model), head=True), chosen, chosen.dev), settings)


def started(*folders: Path) -> subprocess.Popen[bytes]:
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([tests, *sys.path])
    program = [sys.executable, __file__, *map(str, folders)]
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen(program, env=environment, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def step(process: subprocess.Popen[bytes]) -> None:
    """Wait until the sweep has done a batch, and let it go on."""
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == b"done\n"
    process.stdin.write(b"\n")


def report_and_wait(done: int) -> None:
    """Say that a batch is done, and wait for the test; once the test has closed the pipe, go on at once."""
    print("done", flush=True)
    sys.stdin.readline()


def test_killed_at_random_moments(tmp_path: Path) -> None:
    model, task = save_tiny(tmp_path / "model", planted_classifier()), write_planted_task(tmp_path / "task")
    threads, random, sizes = torch.get_num_threads(), Random(0), [0]
    try:
        torch.set_num_threads(1)
        expected = swept(model, task, tmp_path / "whole")
    finally:
        torch.set_num_threads(threads)
    journal = tmp_path / "journal"
    file = journal / "pass-1"
    for _ in range(2):
        process = started(model, task, journal)
        for _ in range(random.randint(2, 9)):
            step(process)
        while not (file.is_file() and file.stat().st_size > sizes[-1] + 1):
            step(process)
        process.kill()  # it has just gone on, and is anywhere in a batch
        process.communicate()
        assert process.returncode == -9
        sizes.append(file.stat().st_size)
    assert sizes[1] < sizes[2] < (tmp_path / "whole" / "pass-1").stat().st_size
    last = started(model, task, journal)
    last.communicate()  # the pipe is closed
    assert last.returncode == 0
    with np.load(journal.with_suffix(".npz")) as found:
        for name in ("plain", "heads", "layers"):
            assert found[name].tobytes() == getattr(expected, name).tobytes()
    assert outputs_in(file) == outputs_in(tmp_path / "whole" / "pass-1")


def outputs_in(file: Path) -> list[Any]:
    """All parts in a file, however many lines they take."""
    return [part for record in list(read_lines(file))[1:] if record for part in record["part"]["state"]]


if __name__ == "__main__":
    torch.set_num_threads(1)
    pass_journal.SECONDS, pass_journal.TIMES = 0, 0
    model, task, journal = map(Path, sys.argv[1:])
    result = swept(model, task, journal, report_and_wait)
    np.savez(journal.with_suffix(".npz"), plain=result.plain, heads=result.heads, layers=result.layers)
