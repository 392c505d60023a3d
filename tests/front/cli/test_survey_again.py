"""A survey or a reproduction that is started again: what is kept, what is run anew, and what is said of each."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from headscope import results
from headscope.errors import DrawingError
from headscope.report.page import MARK
from support.cli import run_command
from support.pages import marked
from support.tiny import save_tiny, tiny_bert

pytestmark = pytest.mark.usefixtures("empty_study_pages")

SMALL: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2}
Survey = Callable[..., Result]


@pytest.fixture
def survey(tmp_path: Path, marked_pages: None) -> Survey:
    """Survey a small model and some texts; the result is in `out`."""
    (tmp_path / "texts.txt").write_text("It rained all night.\nWe slept.\nThey read a book.\n", encoding="utf-8")
    save_tiny(tmp_path / "bert", tiny_bert(0, **SMALL))
    words = ("survey", tmp_path / "bert", tmp_path / "texts.txt", "--resamples", "20", "--no-figures")
    return lambda *more: run_command(*words, "--only", "profile", "-o", tmp_path / "out", *more)


@pytest.fixture
def marked_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of studies have nothing but the mark of a page that lacks no part."""
    for module in ("headscope.report", "headscope.report.rebuild"):
        monkeypatch.setattr(import_module(module), "write", marked)
    monkeypatch.setattr("headscope.papers.portrait.portrait", lambda *_, **__: ([Path("index.html")], []))
    monkeypatch.setattr("headscope.front.cli.reproduce._finish", lambda *_, **__: None)


@pytest.mark.always
def test_a_result_is_kept_until_the_texts_the_model_or_the_version_change(
    survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = survey(), tmp_path / "out" / "profile"
    assert first.exit_code == 0 and "profile, " in first.stderr and "anew" not in first.stderr
    before = (path / "result.nc").stat().st_mtime_ns
    assert "is kept" in survey().stderr and (path / "result.nc").stat().st_mtime_ns == before
    assert "run again: --overwrite" in survey("--overwrite").stderr
    (tmp_path / "texts.txt").write_text("We slept.\nIt rained.\n", encoding="utf-8")
    assert "run again: another corpus" in survey().stderr
    assert results.read(path).attrs["n_examples"] == 2
    kept = results.read(path)
    save_tiny(tmp_path / "bert", tiny_bert(1, **SMALL))
    assert "run again: model " in survey().stderr
    assert not kept.equals(results.read(path)) and "is kept" in survey().stderr
    monkeypatch.setattr("headscope.front.inputs.__version__", "99.0")
    assert "run again: headscope " in survey().stderr


def test_without_a_folder_a_survey_has_one_of_its_model_and_refuses_another_setting_there(
    survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("survey", "bert", "texts.txt", "--resamples", "20", "--no-figures", "--only", "profile")
    assert run_command(*words).exit_code == 0
    assert (tmp_path / "out" / "survey-bert" / "profile" / "result.nc").is_file()
    again = run_command(*words, "--limit", "2")
    assert again.exit_code == 2 and "a run with limit none, not 2; choose another" in again.stderr


def test_a_page_that_is_missing_stale_or_lacks_a_part_is_written_and_the_numbers_are_kept(
    survey: Survey, tmp_path: Path
) -> None:
    survey()
    page, result = (tmp_path / "out" / "profile" / name for name in ("report.html", "result.nc"))
    before = result.stat().st_mtime_ns
    for spoil in (page.unlink, lambda: page.write_bytes(MARK), result.touch):
        spoil()
        before = result.stat().st_mtime_ns
        assert "is kept; its page is written" in survey().stderr
        assert "made-of" in page.read_text() and result.stat().st_mtime_ns == before


def test_a_result_that_was_saved_without_its_maps_is_not_whole(
    survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patched:
        patched.setattr("headscope.passes.attention_maps.with_maps_of", killed)
        assert survey().exit_code == 9
    assert "typical_map" not in results.read(tmp_path / "out" / "profile")
    assert "is kept" not in survey().stderr and "typical_map" in results.read(tmp_path / "out" / "profile")


def test_a_study_that_fails_ends_a_survey_with_status_1_and_one_without_its_page_has_its_numbers(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise DrawingError("page lacks the atlas")

    monkeypatch.setattr("headscope.report.write", failing)
    ended = survey("--quiet", "--json")
    assert ended.exit_code == 1 and "profile: page lacks the atlas" in ended.stderr
    assert '"profile":' in ended.stdout and "could be run" not in ended.stderr


def test_a_reproduction_runs_anew_what_was_made_from_other_weights(tmp_path: Path, marked_pages: None) -> None:
    texts = tmp_path / "data" / "wikitext" / "wiki.test.raw"
    texts.parent.mkdir(parents=True)
    texts.write_text(" The rain fell on the roof all night .\n\n We slept , and the cat did not .\n\n" * 12)
    words = ("reproduce", "clark2019", tmp_path / "bert", "--data", tmp_path / "data", "--limit", "8")
    words = (*words, "--resamples", "20", "--no-figures", "-o", tmp_path / "out")
    save_tiny(tmp_path / "bert", tiny_bert(0, **SMALL))
    run_command(*words)
    assert "surface: headscope profile is kept" in run_command(*words).stderr
    save_tiny(tmp_path / "bert", tiny_bert(1, **SMALL))
    assert "surface: headscope profile; run again: model " in run_command(*words).stderr
