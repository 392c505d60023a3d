"""The command `index`."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from headscope.viewer.saved_index import read_index
from support.cli import run_command
from support.tiny import save_tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_tiny(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("The old cat sat.\nA dog ran by the river.\nIt was small.\n", encoding="utf-8")
    return tmp_path


def invoke(folder: Path, *options: str) -> Result:
    return run_command("index", folder / "model", folder / "texts.txt", "-o", folder / "out", *options)


def test_an_index_is_written_and_counted(folder: Path) -> None:
    result = invoke(folder, "--per-head", "2", "--json")
    assert result.exit_code == 0, result.output
    path = folder / "out" / "examples.nc"
    assert json.loads(result.stdout) == {
        "schema": 1, "index": str(path), "examples": 3, "texts": 3, "token_classes": 4, "relations": 0,
    }  # fmt: skip
    assert read_index(path).sizes["rank"] == 2


def test_quiet_prints_nothing(folder: Path) -> None:
    result = invoke(folder, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "out" / "examples.nc").is_file()


def test_a_number_out_of_its_range_is_refused(folder: Path) -> None:
    result = invoke(folder, "--per-head", "0")
    assert result.exit_code == 2 and "--per-head" in result.stderr
