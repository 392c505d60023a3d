"""The list of slow tests names tests that there are."""

from pathlib import Path

from support.defined import definitions
from support.tiers import SLOW

ROOT = Path(__file__).parents[2]


def test_every_slow_test_is_there() -> None:
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    named = {tuple(test.partition("[")[0].split("::")) for test in listed}
    assert len(listed) > 100 and listed == sorted(listed)
    assert [(path, name) for path, name in named if name not in definitions(ROOT / path)["function"]] == []
