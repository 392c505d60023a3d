"""A short run of the fuzz over all targets; `make fuzz` has the long one."""

import time
from pathlib import Path

import pytest

from fuzz import run
from fuzz.run import fuzz
from fuzz.targets import PAGES, TARGETS, Target, good
from headscope.corpora.parsing.lines import opened

# test_bounds.py has the bounds
QUICK = [name for name in TARGETS if name != PAGES and not name.startswith("bound, ")]


@pytest.mark.parametrize("name", QUICK)
def test_a_good_input_is_read_and_mutated_ones_are_read_or_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    made = good(name, tmp_path / "good")
    TARGETS[name].take(made, tmp_path / "own")
    outcome = fuzz(name, range(12), seed=1, made=made)
    assert not outcome.failures
    assert outcome.counts.total() == 12


def test_a_reader_that_takes_too_long_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within an open file `TimeoutError` would be an error of the file, and so a refusal."""

    def read_for_long(content: bytes, folder: Path) -> None:
        (folder / "x.txt").write_bytes(b"a")
        with opened(folder / "x.txt"):
            time.sleep(30)

    monkeypatch.setattr(run, "SECONDS", 1)
    monkeypatch.setitem(TARGETS, "slow", Target(lambda _: b"a", read_for_long))
    assert fuzz("slow", range(1), seed=0).failures == {0: "TooSlowError: more than 1 seconds"}
