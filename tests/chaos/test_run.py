"""A short run of `make chaos`."""

from pathlib import Path

import pytest

from chaos.run import main


def test_killed_commands_go_on_and_end_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.report.write", lambda result, directory, **_: Path(directory) / "report.html")
    assert main(kills=3, seed=0) == 0
