"""The duration of a result is that of its study, not of a pass over the corpus alone."""

import time
from functools import wraps
from pathlib import Path

import pytest

import headscope
from headscope import catalog, results
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert


def test_the_duration_is_that_of_the_study_from_the_command_line_and_in_python(
    tmp_path: Path, pages_not_written: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = save_tiny(tmp_path / "bert", tiny_bert(num_hidden_layers=1))
    study = catalog.load("studies", "profile")
    run, passes = study.run, list[float]()

    @wraps(run)
    def slow(*given, **options):
        result = run(*given, **options)
        passes.append(result.attrs["duration_s"])
        time.sleep(0.3)
        return result

    monkeypatch.setattr(study, "run", slow)
    assert headscope.profile(str(model), ["It rained."], resamples=10).attrs["duration_s"] > passes[0] + 0.29
    words = ("profile", model, "sample", "--limit", "2", "--resamples", "10", "--examples", "0")
    assert run_command(*words, "-o", tmp_path / "out").exit_code == 0
    assert results.read(tmp_path / "out").attrs["duration_s"] > passes[1] + 0.29
