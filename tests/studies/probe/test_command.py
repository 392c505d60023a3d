"""The command `probe` reads a second corpus to train on."""

import json
from pathlib import Path

import pytest

import headscope
from support.cli import run_command
from support.tiny import save_tiny

SHORT = ("--seeds", "1", "--epochs", "1", "--no-random", "--resamples", "10")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("model")))


def invoke(*arguments: str):
    return run_command("probe", *arguments)


def test_one_corpus_is_trained_on_and_the_other_tested_on(model: str, tmp_path: Path) -> None:
    limits = ("--train", "sample", "--train-limit", "30", "--limit", "12")
    done = invoke(model, "sample", *limits, *SHORT, "--no-figures", "-o", str(tmp_path))
    assert done.exit_code == 0, done.output
    result = headscope.open_result(tmp_path)
    training = json.loads(result.attrs["training"])
    # Some are too long for this model.
    assert 0 < result.attrs["n_examples"] <= 12 < training["sentences"] and training["corpus"] == "sample"
    assert "distances and words" in done.stdout and (tmp_path / "report.html").is_file()


def test_a_limit_of_no_corpus_is_refused(model: str, tmp_path: Path) -> None:
    done = invoke(model, "sample", "--train-limit", "30", "-o", str(tmp_path))
    assert done.exit_code == 2 and "--train-limit limits the corpus of --train" in done.stderr
