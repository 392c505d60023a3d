"""Peak memory of a run."""

import json
import resource
import subprocess
import sys
import threading
from collections.abc import Callable

import psutil

MIB = 2**20


def peak(run: Callable[[], object]) -> tuple[float, float]:
    """MiB of this process at the peak of a run, above what it has before, and all in all; another thread watches."""
    process = psutil.Process()
    before, highest, done = process.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            highest[0] = max(highest[0], process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    run()
    done.set()
    thread.join()
    return (highest[0] - before) / MIB, highest[0] / MIB


def highest() -> float:
    """MiB of this process at its peak so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def of_own_process(benchmark: str, arguments: list[str]) -> tuple[float, float]:
    """The peak that a benchmark prints as JSON in its last line, run with these arguments in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    above, peak = json.loads(done.stdout.splitlines()[-1])
    return above, peak
