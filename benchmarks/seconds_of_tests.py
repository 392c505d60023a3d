"""Processor seconds of the tests, by folder, and of those that take most: a plugin of pytest.

    OMP_NUM_THREADS=1 python -m pytest -n 0 -p benchmarks.seconds_of_tests tests/measures

The time on the clock says little on a machine with other work. Seconds are of this process, and of the processes that
it has waited for: of a browser or a worker that still runs there are none yet.
"""

from collections.abc import Generator
from operator import itemgetter
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest

MOST = 30
TAKEN: dict[str, float] = {}


def seconds() -> float:
    """Processor seconds until now."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Add what a test takes, with the fixtures that it is the first to ask for."""
    before = seconds()
    done = yield
    TAKEN[item.nodeid] = seconds() - before
    return done


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds of all folders, and of the tests that took most."""
    folders = dict[str, list[float]]()
    for test, taken in TAKEN.items():
        folders.setdefault(test.partition("::")[0].rpartition("/")[0], []).append(taken)
    terminalreporter.write_line(f"{seconds():.1f} processor seconds, {sum(TAKEN.values()):.1f} of {len(TAKEN)} tests")
    for folder, parts in sorted(folders.items(), key=lambda pair: -sum(pair[1])):
        terminalreporter.write_line(f"{sum(parts):8.1f} s {len(parts):5} {folder}")
    for test, taken in sorted(TAKEN.items(), key=itemgetter(1), reverse=True)[:MOST]:
        terminalreporter.write_line(f"{taken:8.1f} s {test}")
