"""`headscope compare` on folders: a model before and after, with and without a task."""

from pathlib import Path

import pytest

import headscope
from support.cli import run_command
from support.planted import planted
from support.planted_task import planted_classifier, write_planted_task
from support.tiny import save_tiny, tiny_bert


def invoke(*arguments: object):
    return run_command("compare", *arguments, "--resamples", "20")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models before and after, one of another shape, and the task that was learned."""
    folder = tmp_path_factory.mktemp("models")
    save_tiny(folder / "before", planted({}))
    save_tiny(folder / "after", planted_classifier())
    save_tiny(folder / "other", tiny_bert())
    write_planted_task(folder / "birds")
    return folder


def test_models_are_compared_on_the_dev_split_and_scored(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.front.cli.compute.interactive", lambda: True)
    models = (folders / "before", folders / "after")
    done = invoke(*models, "--task", "birds", "--data", folders / "birds", "--restore", "2", "-o", tmp_path)
    assert done.exit_code == 0, done.output
    result = headscope.open_result(tmp_path)
    assert result.attrs["n_examples"] == 40 and result["model"].values.tolist() == ["after"]
    assert result["restored_score"].sel(metric="accuracy").values.tolist() == [[1, 1, 0.5]]
    assert "160/160" in done.stderr
    assert "similarity (cosine)" in done.stdout and "restored score" in done.stdout
    assert (tmp_path / "figures" / "restored_score.svg").is_file()
    assert "2-3" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["before"], [], "compared with nothing; name two or more models"),
        (["before", "other"], [], "2 layers of 4 heads and 3 layers of 4 heads"),
        (["before", "after"], ["--restore", "1"], "restore needs a task"),
        (["before", "after"], ["--as-coded"], "the released code pads to 200"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    folders: Path, tmp_path: Path, names: list[str], options: list[str], message: str
) -> None:
    done = invoke(*(folders / name for name in names), *options, "-o", tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr.strip().splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
