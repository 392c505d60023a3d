"""The main job on text that is poor in features, and pages of which a part cannot be made."""

import sys
from pathlib import Path

import pytest

import headscope
from headscope import open_result
from headscope.report.study_page import StudyPage
from support.cli import run_command
from support.tiers import in_turn

TEXTS = {
    "negation alone": "The cat did not sleep.\nWe went home early.\nNothing is fine, she said.\n",
    "one sentence": "One sentence only.\n",
    "two sentences": "It rained.\nNo dog was not wet.\n",
    "no feature": "Yes\nNo\n",
}


def run(*arguments: str) -> tuple[int, str, str]:
    result = run_command(*arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", in_turn(TEXTS, at=1, of=2))
def test_profile_of_plain_text_is_made_and_drawn_again(name: str, model: str, tmp_path: Path) -> None:
    text = tmp_path / "plain.txt"
    text.write_text(TEXTS[name], encoding="utf-8")
    out = str(tmp_path / "out")
    files = [] if name == "negation alone" else ["--no-figures"]
    assert run("profile", model, str(text), "-o", out, *files)[0] == 0
    assert run("report", out, *files)[0] == 0
    assert 'class="failed"' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def broken(self: object) -> list[object]:
    raise ValueError("no <b>such</b> number")


def test_part_that_cannot_be_made_leaves_table_page_and_numbers(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StudyPage, "findings", broken)
    status, table, message = run("profile", model, "sample", "--limit", "3", "-o", str(tmp_path))
    assert status == 1
    assert "entropy" in table
    assert "lacks the findings (ValueError: no <b>such</b> number)" in message
    assert str(tmp_path / "result.nc") in message
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the findings (ValueError: no &lt;b&gt;such&lt;/b&gt; number)" in page
    assert "<h2>How it was made</h2>" in page


def test_table_that_cannot_be_printed_says_where_the_numbers_are(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.front.cli.terminal.print_result", broken)
    status, _, message = run("profile", model, "sample", "--limit", "3", "-o", str(tmp_path), "--no-figures")
    assert status == 1
    assert f"the numbers are saved in '{tmp_path / 'result.nc'}'" in message


def test_library_of_figures_that_is_broken_leaves_the_numbers(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "headscope.report", None)
    monkeypatch.delattr(headscope, "report", raising=False)
    status, _, message = run("profile", model, "sample", "--limit", "3", "-o", str(tmp_path))
    assert status == 1
    assert f"the numbers are saved in '{tmp_path / 'result.nc'}'" in message
    assert "entropy" in open_result(tmp_path)


def test_patterns_of_inputs_that_are_too_short_have_a_page(tmp_path: Path) -> None:
    text = tmp_path / "words.txt"
    text.write_text(TEXTS["no feature"], encoding="utf-8")
    status, table, message = run("patterns", "minilm", str(text), "-o", str(tmp_path / "out"), "--no-figures")
    assert status == 0, message
    assert "No input has enough tokens for a pattern; use longer texts." in table and "2 under 4 tokens" in table
    assert 'class="failed"' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert run("report", str(tmp_path / "out"))[0] == 0


@pytest.mark.parametrize(("number", "inputs"), [("0", 0), ("2", 2)])
def test_maps_of_typical_inputs_are_kept_for_the_page(number: str, inputs: int, model: str, tmp_path: Path) -> None:
    options = ("--limit", "5", "--examples", number, "-o", str(tmp_path), "--json", "--no-figures")
    status, _, _ = run("profile", model, "sample", *options)
    assert status == 0
    assert open_result(tmp_path).sizes.get("typical_input", 0) == inputs
    assert ('id="atlas"' in (tmp_path / "report.html").read_text(encoding="utf-8")) == bool(inputs)
