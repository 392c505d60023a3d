"""The command `probe` reads a second corpus to train on."""

from pathlib import Path

import pytest

from support.cli import run_command
from support.tiny import save_tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("model")))


def invoke(*arguments: str):
    return run_command("probe", *arguments)


def test_a_limit_of_no_corpus_is_refused(model: str, tmp_path: Path) -> None:
    done = invoke(model, "sample", "--train-limit", "30", "-o", str(tmp_path))
    assert done.exit_code == 2 and "--train-limit limits the corpus of --train" in done.stderr
