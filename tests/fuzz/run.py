"""Mutation fuzz: every mutated input is read, or refused by an error of one line.

    PYTHONPATH=tests:tools python -m fuzz.run --inputs 100000

Inputs are shared out among the targets. A failure is any other exception, an error of several lines, a warning, a crash
or more than 20 seconds; its input is kept under out/fuzz, by target and number. Exit status 1 if there is any.
"""

import argparse
import signal
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.targets import TARGETS, good, mutated
from headscope.errors import HeadscopeError

CHUNK, SECONDS = 250, 20


@dataclass
class Outcome:
    """Counts of inputs that were `read` or `refused`, and the failures by number, with their cause."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)

    def add(self, other: "Outcome") -> None:
        """Add another outcome to this one."""
        self.counts += other.counts
        self.failures |= other.failures


def fuzz(name: str, numbers: range, seed: int, failed: Path | None = None, made: bytes | None = None) -> Outcome:
    """Try the inputs of a target with these numbers; keep those that fail in the folder `failed`.

    * `made`: the good input, by default that of the target.
    """
    outcome = Outcome()
    signal.signal(signal.SIGALRM, _too_slow)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            content = mutated(name, number, seed, made or good(name, Path(folder) / "good"))
            own = Path(folder) / str(number)
            own.mkdir()
            signal.alarm(SECONDS)
            try:
                TARGETS[name].take(content, own)
                outcome.counts["read"] += 1
            except HeadscopeError as error:
                if "\n" in str(error):
                    outcome.failures[number] = "an error of several lines"
                else:
                    outcome.counts["refused"] += 1
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                outcome.failures[number] = f"{type(error).__name__}: {str(error)[:200]}"
            finally:
                signal.alarm(0)
            if failed and number in outcome.failures:
                failed.mkdir(parents=True, exist_ok=True)
                (failed / f"{name.replace(', ', '-')}-{number}").write_bytes(content)
    return outcome


class TooSlowError(BaseException):
    """An input that takes too long; no reader catches it, as they do a `TimeoutError`, which is an error of a file."""


def _too_slow(*_: object) -> None:
    raise TooSlowError(f"more than {SECONDS} seconds")


def fuzz_apart(name: str, inputs: int, seed: int, failed: Path) -> Outcome:
    """Try inputs in a process of their own, so that a crash is one failure."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1) as pool:
        made = pool.submit(good, name, Path(folder) / "good").result()
    for start in range(0, inputs, CHUNK):
        numbers = range(start, min(inputs, start + CHUNK))
        try:
            with ProcessPoolExecutor(1) as pool:
                outcome.add(pool.submit(fuzz, name, numbers, seed, failed, made).result())
        except BrokenProcessPool:
            outcome.failures[start] = f"crash in inputs {numbers.start} to {numbers.stop - 1}"
    return outcome


def main() -> int:
    """Fuzz all targets, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="targets whose names begin with this")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    arguments = parser.parse_args()
    names = [name for name in TARGETS if name.startswith(arguments.only or "")]
    total = Outcome()
    print("| input | tried | read | refused | failed |\n| --- | ---: | ---: | ---: | ---: |")
    for name in names:
        outcome = fuzz_apart(name, -(-arguments.inputs // len(names)), arguments.seed, arguments.out)
        total.add(outcome)
        tried = sum(outcome.counts.values()) + len(outcome.failures)
        row = (name, tried, outcome.counts["read"], outcome.counts["refused"], len(outcome.failures))
        print("|", " | ".join(map(str, row)), "|", flush=True)
        for cause, count in Counter(outcome.failures.values()).most_common(5):
            print(f"    {count} x {cause}", flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
