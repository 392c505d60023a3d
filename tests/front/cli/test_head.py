"""The command `head`: what it says, writes and refuses; and `report` on a folder of several results."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from headscope import results
from support.cli import run_command
from support.pages import WITHOUT_FILES
from support.patterns_result import patterns_result
from support.profile_result import profile_result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile and patterns of one model, a profile of another with fewer heads."""
    directory = tmp_path_factory.mktemp("results")
    results.save(profile_result(), directory / "profile")
    results.save(patterns_result(), directory / "deep" / "patterns")
    results.save(profile_result(3, 3, model="other", model_sha256="ef" * 32), directory / "other")
    return directory


def said(*arguments: object) -> str:
    """The one line with which a command refuses."""
    result = run_command(*arguments)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.stderr
    return result.stderr.strip()


def test_a_card_is_printed_for_each_model(folder: Path) -> None:
    result = run_command("head", "2-1", folder)
    assert result.exit_code == 0, result.output
    assert "2 models, told apart by the hash of their weights" in result.stdout
    assert "Head 2-1 of tiny" in result.stdout and "Head 2-1 of other" in result.stdout
    assert "Patterns" in result.stdout and "Neighbours" in result.stdout
    only = run_command("head", "4-1", folder).stdout
    assert "Head 4-1 of tiny" in only and "Head 4-1 of other" not in only
    bars = [line for line in only.splitlines() if line.startswith("━")]
    assert bars and all(" of 12 " in line or " of 4 " in line for line in bars)
    assert "0.88 [0.86, 0.89]" in " ".join(run_command("head", "2-3", folder).stdout.split())


def test_json_has_every_number(folder: Path) -> None:
    (one,) = json.loads(run_command("head", "2-3", folder / "profile", "--json").stdout)["cards"]
    assert (one["model"], one["head"], one["page"]) == ("tiny", "2-3", None)
    (row,) = [row for row in one["numbers"] if row["variable"] == "attention_offset" and row["labels"] == ["-1"]]
    assert (row["value"], row["rank"], row["heads"], row["n"], row["q"]) == (0.875, 1, 12, 50, None)
    assert (row["study"], row["corpus"]) == ("profile", "sample") and row["result"].endswith("profile/result.nc")


def test_heads_are_ranked_by_any_number(folder: Path) -> None:
    lines = run_command("head", folder / "profile", "--by", "attention_offset.-1", "--top", "2").stdout.splitlines()
    heads = [line.split()[0] for line in lines if "of 12" in line]
    assert heads[0] == "2-3" and len(heads) == 2
    found = json.loads(run_command("head", folder, "--by", "entropy", "--ascending", "--json").stdout)["rankings"]
    assert sorted(len(ranking["heads"]) for ranking in found) == [9, 12]
    for ranking in found:
        values = [row["value"] for row in ranking["heads"]]
        assert values == sorted(values)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["head", "7-1", "{}"], "head '7-1' is in no result; "),
        (["head", "1-1"], "head '1-1': no folder is named; name folders that studies wrote with -o"),
        (["head", "{}/nowhere"], "/nowhere' does not exist; name folders"),
        (["head", "{}", "--by", "entopy"], "variable 'entopy' is in no result; did you mean 'entropy'?"),
        (["head", "{}", "--by", "attention_to.x"], "'attention_to' has no 'x'; there are: cls, sep, punct, other"),
        (["head", "1-1", "{}", "--by", "entropy"], "--by, --ascending and --top rank all heads; leave out 1-1"),
        (["head", "{}", "--top", "3"], "--ascending and --top go with --by VARIABLE"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments: list[str], expected: str, folder: Path) -> None:
    assert expected in said(*(argument.format(folder) for argument in arguments))


def test_results_that_are_not_about_heads_are_said(tmp_path: Path) -> None:
    results.save(profile_result()[["token_share"]], tmp_path)
    assert "is about heads; 'headscope profile' makes one" in said("head", tmp_path)


@pytest.mark.thorough
def test_report_of_a_folder_of_results_writes_each_page_and_all_cards(folder: Path) -> None:
    script = "import os, sys, headscope.front.cli.app as cli; os.cpu_count = lambda: 1\n"  # no further processes
    script += "sys.argv = ['headscope', 'report', sys.argv[1], '--no-figures']\n"
    script += "try: cli.main()\nfinally: assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "profile" / "report.html").is_file() and (folder / "deep" / "patterns" / "report.html").is_file()
    assert done.stdout.split()[-1] == str(folder / "heads.html") and (folder / "heads.html").is_file()


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WITHOUT_FILES:
        monkeypatch.setattr(name, MagicMock())
    directory = tmp_path / "a\x1b[31m  [red]"
    named: dict[str, Any] = {"model": "b\x1b[2J[bold]", "corpus": "c\x1b]0;title\x07.txt"}
    results.save(profile_result(**named), directory / "one")
    results.save(profile_result(3, 3, **named, model_sha256="ef" * 32), directory / "two")
    commands: list[list[object]] = [
        *(["head", *words, directory] for words in ([], ["1-1"], ["7-7"])),
        *(["head", directory, "--by", by] for by in ("entropy", "entropy\x1b[31m")),
        ["head", "1-1", directory / "one", "-o", directory / "page"],
        ["report", directory / "one"],
        ["export", directory / "one"],
        ["list"],
    ]
    for words in commands:
        done = run_command(*words)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr), words
