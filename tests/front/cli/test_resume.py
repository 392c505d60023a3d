"""A command that goes on from a checkpoint."""

from pathlib import Path
from typing import Any

import pytest

from headscope import catalog
from headscope.passes.settings import PassJournal
from support.cli import run_command
from support.tiny import save_tiny


def test_an_error_of_the_study_is_not_hidden_by_computing_anew(
    tmp_path: Path, journal_often: None, six_in_a_shard: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts.txt").write_text("It rained.\nWe stayed in.\n" * 9)
    given = ["profile", str(save_tiny(tmp_path / "model")), str(tmp_path / "texts.txt"), "-o", str(tmp_path / "out")]
    given += ["--resamples", "5", "--no-figures"]
    monkeypatch.setattr(PassJournal, "remove", lambda journal: None)
    assert run_command(*given).exit_code == 0
    bugs = iter([ValueError("a bug")])
    study = catalog.load("studies", "profile")
    kept = study.measure

    def measure(*arguments: Any, **options: Any) -> Any:
        result = kept(*arguments, **options)
        for bug in bugs:
            raise bug
        return result

    monkeypatch.setattr(study, "measure", measure)
    again = run_command(*given)
    assert "inputs are done by" in again.stderr and "anew" not in again.stderr
    assert isinstance(again.exception, ValueError) and str(again.exception) == "a bug"
