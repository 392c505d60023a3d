"""Pages of several results are written again where something has changed."""

import os
from importlib import import_module
from pathlib import Path

import pytest
from xarray import Dataset

from headscope import save_result
from headscope.errors import DrawingError, HeadscopeError
from headscope.report import page, rebuild_all, result_page
from headscope.report.study_page import StudyPage
from headscope.storage.files import write_atomically
from support.profile_result import profile_result


def short(result: Dataset, directory: Path, *, made_of: str, **_: object) -> Path:
    """In the place of a page: a file that bears the mark of what it is made of, as a page does."""
    return write_atomically(directory / "report.html", f'<meta name="made-of" content="{made_of}"')


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two results, whose pages have no figures, which take most of the time."""
    for module in (page, result_page):
        monkeypatch.setattr(module, "missing", lambda extra: "no vl-convert")
    for seed, name in enumerate(("one", "other")):
        save_result(profile_result(seed=seed), tmp_path / name)
    return tmp_path


@pytest.fixture
def folder(saved: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with short pages."""
    rebuilding = import_module("headscope.report.rebuild")
    monkeypatch.setattr(rebuilding, "write", short)
    monkeypatch.setattr(rebuilding, "write_heads", lambda models, directory, made_of: directory / "heads.html")
    list(rebuild_all(saved, formats=()))
    return saved


def written(folder: Path, **options: bool) -> set[str]:
    """The pages of results that are written."""
    pages = sorted(folder.glob("*/report.html"))
    before = {page: page.stat().st_ino for page in pages}
    made = list(rebuild_all(folder, formats=(), again=False) if not options else rebuild_all(folder, formats=()))
    assert set(pages) <= set(made)
    return {page.parent.name for page in pages if page.stat().st_ino != before[page]}


def test_pages_of_the_same_numbers_stay(saved: Path) -> None:
    save_short(saved)
    list(rebuild_all(saved, formats=()))
    assert written(saved) == set()
    assert written(saved, again=True) == {"one", "other"}


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


def test_a_page_that_lacks_a_part_is_written_again(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(saved / "one" / "result.nc", (1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(StudyPage, "findings", lambda page: 1 / 0)
        with pytest.raises(DrawingError):
            list(rebuild_all(saved / "one", formats=()))
    assert "one" in written(saved)


def test_processes_write_the_same_pages(tmp_path: Path) -> None:
    save_short(tmp_path)
    made = {path: path.read_bytes() for path in rebuild_all(tmp_path, formats=())}
    assert {path: path.read_bytes() for path in rebuild_all(tmp_path, formats=(), processes=2)} == made
    inodes = [path.stat().st_ino for path in made]
    assert list(rebuild_all(tmp_path, formats=(), processes=2, again=False)) == list(made)
    assert [path.stat().st_ino for path in made] == inodes


@pytest.mark.thorough
def test_the_refusal_of_a_process_is_that_of_this_one(tmp_path: Path) -> None:
    save_short(tmp_path)
    (tmp_path / "other" / "report.html").mkdir()
    with pytest.raises(HeadscopeError, match=r"other.report\.html"):
        list(rebuild_all(tmp_path, formats=(), processes=2))


def save_short(folder: Path) -> None:
    """Two results whose pages are short: in a process of its own nothing is patched."""
    for seed, name in enumerate(("one", "other")):
        save_result(profile_result(seed=seed, study="other")[["entropy", "attention_offset"]], folder / name)
