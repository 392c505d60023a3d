"""Commands, workers or machines that are killed at random moments: each ends with the result of an uninterrupted one.

One kill of five is on a Ray cluster.

PYTHONPATH=tests:tools python -m chaos.run --kills 30
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from xarray import Dataset

import headscope.passes.settings as pass_settings
from chaos.ray_machines import HEAD, READING, STARTING, VICTIMS, Machines, children
from headscope import results
from headscope.cluster import ray_cluster
from headscope.front.cli import compute
from headscope.front.cli.app import application
from headscope.front.cli.compute import FOLDER
from headscope.front.cli.errors import INCOMPLETE
from headscope.passes import shards
from headscope.report import is_whole
from support import small_shards
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

# Studies of all kinds of passes: tallies, lists of observations, two passes, several models, states of their own; and
# those that train on files of arrays.
STUDIES = ("profile", "syntax", "relations", "gradients", "compare", "patterns", "geometry")
STUDIES += ("probe", "structure", "layers", "survey")
# The studies of a survey share a pass, of tallies, observations, states and files of arrays.
SURVEYED = "profile,syntax,geometry,structure"
OF_STUDIES = ("--batch-tokens", "100", "--examples", "0")
# Times, and the command, which names the folder.
CHANGING = {"duration_s", "started", "command"}
OPTIONS = ("--limit", "60", "--resamples", "10", "--no-figures", "--quiet")
MORE = {
    "probe": ("--epochs", "1", "--seeds", "1"),
    "structure": ("--epochs", "1", "--rank", "2"),
    "layers": ("--tasks", "part_of_speech", "--no-codes", "--no-mix"),
}


@dataclass
class Outcome:
    """Kills of a study, its workers, a machine and the head of a cluster; whether all results are as expected.

    * `resumed`: the commands that ended after a checkpoint; `without_page`: those that ended between the numbers of a
      study and its page.
    """

    kills: int = 0
    workers: int = 0
    machines: int = 0
    heads: int = 0
    resumed: int = 0
    without_page: int = 0
    same: bool = True


def arguments(study: str, models: Sequence[Path], out: Path) -> list[str]:
    """The command line of a study."""
    inputs = [*map(str, models), "--corpus", "sample"] if study == "compare" else [str(models[0]), "sample"]
    more = ("--only", SURVEYED) if study == "survey" else (*OF_STUDIES, *MORE.get(study, ()))
    return [study, *inputs, *OPTIONS, *more, "-o", str(out)]


def started(words: list[str]) -> int:
    """Start a command in a process of its own, with small shards and a checkpoint after each; return its number."""
    with warnings.catch_warnings():
        # Python warns of other threads at a fork; the child uses none of theirs
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    shards.EXAMPLES, pass_settings.SECONDS, pass_settings.TIMES = small_shards.EXAMPLES, 0, 0
    ray_cluster.SECONDS, ray_cluster.RAYLET, ray_cluster.GCS = 0.05, 0, 0
    compute.ENTRY = "support.small_shards:work"
    status = 1
    try:
        application(words)(words)
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        os._exit(status)


def finish(words: list[str]) -> float:
    """Run a command to its end. Returns: its seconds."""
    before = time.monotonic()
    _, status = os.waitpid(started(words), 0)
    if status:
        raise SystemExit(f"'{' '.join(words)}' ended with status {status}")
    return time.monotonic() - before


def kill(words: list[str], journal: Path, random: Random, seconds: float) -> str:
    """Start a command, and kill it or a worker: at a random moment, or soon after a checkpoint or a worker's start.

    Returns: "command" or "worker", which then goes on to its end; "" if it ended before.
    """
    aim, at_page = random.random() < 0.5, words[0] == "survey" and random.random() < 0.5
    aim &= not at_page
    workers = random.randint(2 if aim else 1, 3)
    child, began = started([*words, "--workers", str(workers)]), time.monotonic()
    if at_page:
        before = unpaged(journal.parent)
        while not unpaged(journal.parent) - before and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.002)
        seconds = 0
    elif aim or random.random() < 0.7:
        while not (children(child) if aim else any(journal.parent.rglob("pass-*"))):
            if time.monotonic() - began > 10 * seconds + 10 or os.waitpid(child, os.WNOHANG) != (0, 0):
                break
            time.sleep(0.002)
        seconds /= 10 if aim else 5
    time.sleep(random.uniform(0, seconds))
    victim = random.choice(children(child) or [child]) if aim else child
    try:
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        return ""
    if victim != child and status:
        raise SystemExit(f"'{' '.join(words)}' ended with status {status} after the death of a worker")
    return "worker" if victim != child else "command" if os.WIFSIGNALED(status) else ""


def unpaged(folder: Path) -> set[Path]:
    """The results in a folder whose page is not whole, each with the time at which it was written."""
    return {path / str(path.stat().st_mtime_ns) for path in folder.rglob("result.nc") if not is_whole(path.parent)}


def kill_on_ray(words: list[str], machines: Machines, journal: Path, victim: str, random: Random) -> str:
    """Start a command on a cluster, and kill a victim: as workers start, or soon after a checkpoint.

    Returns: the victim; "" if the command ended before.
    """
    early = random.random() < 0.3
    child = started([*words, *machines.options()])
    while not (machines.workers() if early else any(journal.glob("pass-*"))):
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return ""
        time.sleep(0.005)
    if victim not in HEAD:  # workers that have started may do without one
        time.sleep(random.uniform(0, STARTING if early else READING))
    try:
        machines.kill(victim, child, random)
    except ProcessLookupError:
        victim = ""  # all workers have ended
    _, status = os.waitpid(child, 0)
    if victim in HEAD:
        machines.renew()
        if os.waitstatus_to_exitcode(status) == INCOMPLETE:
            return victim
    if victim != "command" and status:
        raise SystemExit(f"'{' '.join(words)}' ended with status {status} after the death of a {victim}")
    if victim in HEAD:
        return ""  # the command did not need it any more
    return victim if victim != "command" or os.WIFSIGNALED(status) else ""


def survive(
    study: str, models: Sequence[Path], folder: Path, random: Random, kills: int, machines: Machines | None = None
) -> Outcome:
    """Kill a study or its workers some times, let it end, and compare its results."""
    seconds, outcome = finish(arguments(study, models, folder / "whole")), Outcome()
    words, journal = arguments(study, models, folder / "killed"), folder / "killed" / FOLDER
    for _ in range(3 * kills):  # some end before they are killed
        if outcome.kills < kills:
            if machines:
                victim = kill_on_ray(words, machines, journal, VICTIMS[outcome.kills % len(VICTIMS)], random)
            else:
                victim = kill(words, journal, random, seconds)
            outcome.kills += victim != ""
            outcome.workers += victim == "worker"
            outcome.machines += victim == "machine"
            outcome.heads += victim in HEAD
            outcome.without_page += victim == "command" and bool(unpaged(journal.parent))
            outcome.resumed += victim in ("command", *HEAD) and any(journal.parent.rglob(FOLDER))
            if victim in ("worker", "machine"):
                outcome.same &= same(folder)
    finish(words)
    outcome.same &= same(folder) and not any(journal.parent.rglob(FOLDER)) and not unpaged(journal.parent)
    return outcome


def same(folder: Path) -> bool:
    """Whether the results are those of the command that was left alone, times apart."""
    undisturbed, killed = folder / "whole", folder / "killed"
    made = [path.relative_to(undisturbed) for path in sorted(undisturbed.rglob("result.nc"))]
    return bool(made) and all(_same(results.read(killed / path), results.read(undisturbed / path)) for path in made)


def _same(result: Dataset, expected: Dataset) -> bool:
    for dataset in (result, expected):
        dataset.attrs = {name: value for name, value in dataset.attrs.items() if name not in CHANGING}
    return result.identical(expected)


def main(kills: int, seed: int, studies: Sequence[str] = STUDIES) -> int:
    """Kill as many commands; print a line a study. Returns: the exit status."""
    torch.set_num_threads(1)
    random, outcomes, machines = Random(seed), list[Outcome](), None
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        sizes: dict[str, Any] = {
            "hidden_size": 8,
            "intermediate_size": 8,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
        }
        models = [save_tiny(Path(scratch, f"model-{n}"), tiny_bert(n, **sizes), tiny_tokenizer()) for n in range(2)]
        while (left := kills - sum(outcome.kills for outcome in outcomes)) > 0:
            study = studies[len(outcomes) % len(studies)]
            folder = Path(scratch, f"{len(outcomes)}-{study}")
            if on_ray := len(outcomes) % 5 == 4 and study != "survey":
                machines = machines or stack.enter_context(closing(Machines()))
            most = len(VICTIMS) if on_ray else 3
            outcomes.append(survive(study, models, folder, random, min(left, most), machines if on_ray else None))
            print(f"{study} on Ray" if on_ray else study, outcomes[-1], flush=True)
    names = ("kills", "workers", "machines", "heads", "resumed", "without_page")
    sums = [sum(getattr(outcome, name) for outcome in outcomes) for name in names]
    total, workers, lost, heads, resumed, without_page = sums
    print(f"{total} kills: {workers} of workers, {lost} of machines, {heads} of heads; {resumed} after a checkpoint")
    print(f"{without_page} between the numbers of a study and its page")
    return 0 if (workers or resumed) and all(outcome.same for outcome in outcomes) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES)
    given = parser.parse_args()
    sys.exit(main(given.kills, given.seed, given.studies))
