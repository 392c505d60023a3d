"""What there is is found by scanning folders; a name that is not there is answered, a file that is broken is shown."""

from pathlib import Path

import pytest

from headscope import catalog

FOLDERS = ("studies", "measures", "measures/comparisons", "corpora/readers", "figures")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose measures do not work."""
    (tmp_path / "measures").mkdir()
    (tmp_path / "measures" / "wrong.py").write_text('"""Something, in nats."""\nimport nothing_of_that_name\n')
    (tmp_path / "measures" / "unreadable.py").write_text('"""Something else."""\ndef observe(:\n')
    (tmp_path / "measures" / "_helper.py").write_text("")
    monkeypatch.setattr(catalog, "ROOT", tmp_path)
    monkeypatch.setattr("headscope.measures.__path__", [str(tmp_path / "measures")])
    return tmp_path


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_module_can_be_loaded_and_says_in_one_line_what_it_is(folder: str) -> None:
    assert catalog.names(folder)
    for name in catalog.names(folder):
        module = catalog.load(folder, name).__name__
        assert module.startswith(f"headscope.{folder.replace('/', '.')}.") and name in module.split(".")
        assert catalog.summary(folder, name).endswith((".", ")", "?"))


def test_names_are_in_order_and_without_helpers() -> None:
    names = catalog.names("measures")
    assert names == sorted(names) and "entropy" in names
    assert not [name for name in names if name.startswith("_")]


def test_a_module_that_does_not_work_is_listed_and_its_error_is_shown(broken: Path) -> None:
    assert catalog.names("measures") == ["unreadable", "wrong"]
    with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
        catalog.load("measures", "wrong")
    with pytest.raises(SyntaxError):
        catalog.load("measures", "unreadable")


def test_a_summary_needs_no_import(broken: Path) -> None:
    assert catalog.summary("measures", "wrong") == "Something, in nats."
    with pytest.raises(SyntaxError):
        catalog.summary("measures", "unreadable")


def test_every_study_answers_one_question() -> None:
    grouped = catalog.studies_by_question()
    assert tuple(grouped) == tuple(catalog.QUESTIONS.values())
    assert all(grouped.values())
    assert sorted(study for studies in grouped.values() for study in studies) == catalog.names("studies")
