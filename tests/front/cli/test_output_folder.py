"""The folder of a result: one run at a time, one study, and no figure of a former result beside new ones."""

import os
from pathlib import Path

import pytest

import headscope
from headscope.report.study_page import StudyPage
from headscope.storage.run_lock import FILE, run_lock
from support.cli import run_command

OPTIONS = ["--limit", "3", "--resamples", "10", "--examples", "0", "--quiet"]


@pytest.fixture(autouse=True)
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of two figures: those of all take most of the time."""
    draw = StudyPage.figures
    monkeypatch.setattr(StudyPage, "figures", lambda page: [*draw(page)[:1], *draw(page)[-1:]])


def run(study: str, model: str, out: Path, *options: str) -> str:
    """Run a study; return what it prints on stderr."""
    result = run_command(study, model, "sample", "-o", out, *OPTIONS, *options)
    assert result.exit_code == (2 if result.stderr else 0), result.output
    return result.stderr


def figures(out: Path) -> set[str]:
    return {path.name for path in (out / "figures").iterdir()}


def test_the_same_run_replaces_its_result_and_figures_without_a_question(model: str, tmp_path: Path) -> None:
    run("profile", model, tmp_path, "--figures", "svg,png")
    (tmp_path / "figures" / "my-drawing.svg").write_text("mine", encoding="utf-8")
    both = figures(tmp_path)
    (tmp_path / "result.nc").touch()
    before = (tmp_path / "result.nc").stat().st_mtime_ns
    assert run("profile", model, tmp_path, "--figures", "svg") == ""
    assert (tmp_path / "result.nc").stat().st_mtime_ns > before
    assert figures(tmp_path) == {name for name in both if name.endswith(".svg")}  # among them what is the user's
    assert FILE not in os.listdir(tmp_path)


@pytest.mark.thorough
def test_another_study_is_refused_before_reading_and_replaced_with_overwrite(model: str, tmp_path: Path) -> None:
    run("profile", model, tmp_path, "--figures", "svg")
    before, drawn = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}, figures(tmp_path)
    said = run("syntax", "no-such-model", tmp_path)
    assert f"folder '{tmp_path}' has the result of 'profile'" in said and "with --overwrite" in said
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert run("syntax", model, tmp_path, "--overwrite", "--figures", "svg") == ""
    assert headscope.open_result(tmp_path).attrs["study"] == "syntax"
    assert figures(tmp_path) and not figures(tmp_path) & (drawn - {"atlas.svg", "atlas-column.svg"})


def test_another_model_or_setting_is_refused_and_replaced_with_overwrite(
    model: str, tmp_path: Path, pages_not_written: None
) -> None:
    run("profile", model, tmp_path, "--no-figures")
    before = (tmp_path / "result.nc").read_bytes()
    assert f"has the result of a run with model {model}, not minilm; " in run("profile", "minilm", tmp_path)
    said = run("profile", model, tmp_path, "--limit", "2", "--no-figures")
    assert f"folder '{tmp_path}' has the result of a run with limit 3, not 2; choose" in said and "with -o, or" in said
    assert (tmp_path / "result.nc").read_bytes() == before
    assert run("profile", model, tmp_path, "--limit", "2", "--no-figures", "--overwrite") == ""
    assert (tmp_path / "result.nc").read_bytes() != before


def test_a_file_that_is_no_result_is_not_replaced(model: str, tmp_path: Path) -> None:
    (tmp_path / "result.nc").write_bytes(b"of another program")
    said = run("profile", model, tmp_path)
    assert "cannot be read as a result of headscope; choose another" in said
    assert (tmp_path / "result.nc").read_bytes() == b"of another program"
    assert run("profile", model, tmp_path, "--overwrite", "--no-figures") == ""


def test_a_folder_in_use_is_refused_by_studies_and_by_report(model: str, tmp_path: Path) -> None:
    with run_lock(tmp_path, "headscope ablate"):
        line = run("profile", model, tmp_path)
        report = run_command("report", str(tmp_path))
    assert f"folder '{tmp_path}' is in use by headscope ablate, process {os.getpid()}, since" in line
    assert report.exit_code == 2 and "is in use by headscope ablate" in report.stderr


def test_a_study_from_python_locks_the_folder_that_it_keeps_its_work_in(tmp_path: Path) -> None:
    with run_lock(tmp_path, "headscope ablate"), pytest.raises(headscope.HeadscopeError, match="is in use by"):
        headscope.prune("no-such-model", task=None, directory=tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["profile", "no-such/model"],
        ["profile", "minilm", "no-such.txt"],
        ["profile", "minilm", "sample", "--limit", "0"],
        ["layers", "minilm", "sample", "--tasks", "no-such-task"],
        ["index", "minilm", "no-such.txt"],
    ],
)
def test_a_refused_run_leaves_no_folder(words: list[str], tmp_path: Path) -> None:
    result = run_command(*words, "-o", tmp_path / "out" / "new")
    assert result.exit_code == 2, result.output
    assert list(tmp_path.iterdir()) == []


def test_a_study_from_python_that_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(headscope.HeadscopeError, match="no-such-model"):
        headscope.prune("no-such-model", task=None, directory=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
