"""A short run of `make chaos`."""

import pytest

from chaos.run import main
from support.pages import marked


def test_killed_commands_go_on_and_end_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.report.write", marked)
    assert main(kills=3, seed=0) == 0
