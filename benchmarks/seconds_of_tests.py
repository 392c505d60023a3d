"""Processor seconds of the tests, by folder, and of those that take most: a plugin of pytest.

    OMP_NUM_THREADS=1 python -m pytest -n 2 -p benchmarks.seconds_of_tests tests/measures

With `--slow-tests 0.85` the tests whose body takes longer are written to tests/slow_tests.txt, the second tier
(tests/support/tiers.py); tests that were not run stay as they are there. The time on the clock says little on a machine
with other work. Seconds are of the test's process, and of the processes that it has waited for: of a browser or a
worker that still runs there are none yet.
"""

from collections.abc import Generator
from operator import itemgetter
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import pytest

MOST = 30
SLOW_TESTS = Path(__file__).parents[1] / "tests" / "slow_tests.txt"
TAKEN: dict[str, dict[str, float]] = {}
ALWAYS: set[str] = set()
SECONDS = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the limit above which a test is of the second tier."""
    parser.addoption("--slow-tests", type=float, metavar="SECONDS", help="write tests/slow_tests.txt")


def seconds() -> float:
    """Processor seconds until now."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Note what a test takes to set up: the fixtures that it is the first to ask for."""
    return (yield from _noted(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Note what the body of a test takes."""
    return (yield from _noted(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Note what the end of a test takes."""
    return (yield from _noted(item))


def _noted(item: pytest.Item) -> Generator[None, object, object]:
    before = seconds()
    try:
        return (yield)
    finally:
        item.stash[SECONDS] = seconds() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the seconds with the report, from a process of the tests to the one that prints."""
    report = yield
    report.user_properties.append(("seconds", item.stash.get(SECONDS, 0.0)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the seconds of a part of a test; examples of docstrings and tests that are always run are never slow."""
    if "always" in report.keywords or not report.nodeid.startswith("tests/"):
        ALWAYS.add(report.nodeid)
    taken: Any = dict(report.user_properties).get("seconds", 0.0)
    TAKEN.setdefault(report.nodeid, {})[report.when] = taken


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds of all folders, and of the tests that took most."""
    taken = {test: sum(parts.values()) for test, parts in TAKEN.items()}
    folders = dict[str, list[float]]()
    for test, number in taken.items():
        folders.setdefault(test.partition("::")[0].rpartition("/")[0], []).append(number)
    terminalreporter.write_line(f"{sum(taken.values()):.1f} processor seconds of {len(taken)} tests")
    for folder, parts in sorted(folders.items(), key=lambda pair: -sum(pair[1])):
        terminalreporter.write_line(f"{sum(parts):8.1f} s {len(parts):5} {folder}")
    for test, number in sorted(taken.items(), key=itemgetter(1), reverse=True)[:MOST]:
        terminalreporter.write_line(f"{number:8.1f} s {test}")
    limit = terminalreporter.config.getoption("--slow-tests")
    if limit is not None:
        _write_slow(limit)


def _write_slow(limit: float) -> None:
    """Write the slow tests of those that were run, beside the listed ones that were not."""
    kept = set(SLOW_TESTS.read_text(encoding="utf-8").splitlines()) - TAKEN.keys()
    slow = {test for test, parts in TAKEN.items() if parts.get("call", 0) > limit and test not in ALWAYS}
    SLOW_TESTS.write_text("".join(f"{test}\n" for test in sorted(kept | slow)), encoding="utf-8")
