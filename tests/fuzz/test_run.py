"""A short run of the fuzz over all targets; `make fuzz` has the long one."""

from pathlib import Path

import pytest

from fuzz.run import fuzz
from fuzz.targets import PAGES, TARGETS, good

# test_bounds.py has the bounds
QUICK = [name for name in TARGETS if name != PAGES and not name.startswith("bound, ")]


@pytest.mark.parametrize("name", QUICK)
def test_mutated_inputs_are_read_or_refused(name: str) -> None:
    outcome = fuzz(name, range(12), seed=1)
    assert not outcome.failures
    assert outcome.counts.total() == 12


@pytest.mark.parametrize("name", QUICK)
def test_the_good_input_of_a_target_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    TARGETS[name].take(good(name, tmp_path / "good"), tmp_path / "own")
