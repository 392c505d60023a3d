"""Pages of several results are written again where something has changed."""

import os
from pathlib import Path

import pytest

from headscope import save_result
from headscope.errors import DrawingError
from headscope.report import page, rebuild_all, result_page
from headscope.studies.profile.page import findings
from support.profile_result import profile_result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two results with pages, without figures, which take most of the time."""
    for module in (page, result_page):
        monkeypatch.setattr(module, "missing", lambda extra: "no vl-convert")
    for seed, name in enumerate(("one", "other")):
        save_result(profile_result(seed=seed), tmp_path / name)
    list(rebuild_all(tmp_path, formats=()))
    return tmp_path


def written(folder: Path, **options: bool) -> set[str]:
    """The pages of results that are written."""
    pages = sorted(folder.glob("*/report.html"))
    before = {page: page.stat().st_ino for page in pages}
    made = list(rebuild_all(folder, formats=(), again=False) if not options else rebuild_all(folder, formats=()))
    assert set(pages) <= set(made)
    return {page.parent.name for page in pages if page.stat().st_ino != before[page]}


def test_pages_of_the_same_numbers_stay(folder: Path) -> None:
    assert written(folder) == set()
    assert written(folder, again=True) == {"one", "other"}


def test_other_numbers_of_a_model_change_all_its_pages(folder: Path) -> None:
    save_result(profile_result(seed=7), folder / "other")
    assert written(folder) == {"one", "other"} and written(folder) == set()


def test_a_page_that_a_study_wrote_alone_is_written_with_the_others(folder: Path) -> None:
    list(rebuild_all(folder / "one", formats=()))
    assert written(folder) == {"one"}


def test_other_formats_are_written(folder: Path) -> None:
    before = (folder / "one" / "report.html").stat().st_ino
    list(rebuild_all(folder, formats=("svg",), again=False))
    assert (folder / "one" / "report.html").stat().st_ino != before


def test_a_page_that_lacks_a_part_is_written_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(folder / "one" / "result.nc", (1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(findings, "findings", lambda result: 1 / 0)
        with pytest.raises(DrawingError):
            list(rebuild_all(folder / "one", formats=()))
    assert "one" in written(folder)
