"""A sweep that is killed at random moments, and started again, ends with the same numbers to the bit."""

import warnings
from collections.abc import Callable
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import headscope.passes.settings as pass_settings
from headscope import Settings, load
from headscope.ablation.sweep import Sweep, sweep
from headscope.corpora.tasks import read
from headscope.outputs.task_inputs import task_inputs
from headscope.passes.settings import PassJournal
from headscope.storage.lines import read_lines
from support.planted_task import planted_classifier, write_planted_task
from support.tiny import save_tiny

BATCH_TOKENS = 16


def swept(model: Path, task: Path, journal: Path, on_progress: Callable[[int], None] = lambda done: None) -> Sweep:
    settings = Settings(batch_tokens=BATCH_TOKENS, on_progress=on_progress, journal=PassJournal(journal, {}, kept=True))
    chosen = read("birds", task)
    return sweep(task_inputs(load(str(model), head=True), chosen, chosen.dev), settings)


def started(model: Path, task: Path, journal: Path, pipe: Connection | None = None) -> Process:
    """A process that sweeps and saves the outputs; with a pipe it says when a batch is done, and waits to go on."""
    process = get_context("fork").Process(target=sweep_and_save, args=(model, task, journal, pipe), daemon=True)
    with warnings.catch_warnings():
        # Python warns of other threads at a fork; the child uses none of theirs
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def sweep_and_save(model: Path, task: Path, journal: Path, pipe: Connection | None) -> None:
    def report_and_wait(done: int) -> None:
        if pipe:
            pipe.send("done")
            pipe.recv()

    torch.set_num_threads(1)
    pass_settings.SECONDS, pass_settings.TIMES = 0, 0
    result = swept(model, task, journal, report_and_wait)
    np.savez(journal.with_suffix(".npz"), plain=result.plain, heads=result.heads, layers=result.layers)


def step(pipe: Connection) -> None:
    """Wait until the sweep has done a batch, and let it go on."""
    assert pipe.poll(60) and pipe.recv() == "done"
    pipe.send("go on")


@pytest.mark.always
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
        ours, theirs = Pipe()
        process = started(model, task, journal, theirs)
        for _ in range(random.randint(2, 9)):
            step(ours)
        while not (file.is_file() and file.stat().st_size > sizes[-1] + 1):
            step(ours)
        process.kill()  # it has just gone on, and is anywhere in a batch
        process.join()
        assert process.exitcode == -9
        sizes.append(file.stat().st_size)
    assert sizes[1] < sizes[2] < (tmp_path / "whole" / "pass-1").stat().st_size
    last = started(model, task, journal)
    last.join()
    assert last.exitcode == 0
    with np.load(journal.with_suffix(".npz")) as found:
        for name in ("plain", "heads", "layers"):
            assert found[name].tobytes() == getattr(expected, name).tobytes()
    assert outputs_in(file) == outputs_in(tmp_path / "whole" / "pass-1")


def outputs_in(file: Path) -> list[Any]:
    """All parts in a file, however many lines they take."""
    return [part for record in list(read_lines(file))[1:] if record for part in record["part"]["state"]]
