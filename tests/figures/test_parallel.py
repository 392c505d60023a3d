"""Charts converted in other processes: the same files as in this process, and errors of each chart alone."""

import re
from pathlib import Path

import pytest

from headscope.errors import HeadscopeError
from headscope.figures import heatmap, with_interval
from headscope.figures.export import save_spec
from headscope.figures.parallel import saving
from support.profile_result import profile_result

NUMBER = re.compile(rb"(clip|gradient)[-_]?\d+")
SPEC = heatmap(with_interval(profile_result(), "entropy")).to_dict()


def test_files_are_those_of_this_process(tmp_path: Path) -> None:
    formats = ("svg", "png")
    with saving(formats) as save:
        waiting = [save(SPEC, tmp_path / name) for name in ("one", "two", "three")]
        paths = [path for files in waiting for path in files.result()]
    expected = save_spec(SPEC, tmp_path / "here", formats)
    assert [path.name for path in paths[:3]] == ["one.svg", "one.png", "two.svg"]
    for path in paths:  # numbers of clip paths run on in a process
        here = expected[formats.index(path.suffix[1:])]
        assert NUMBER.sub(b"", path.read_bytes()) == NUMBER.sub(b"", here.read_bytes())


def test_a_chart_that_cannot_be_drawn_is_an_error_of_its_own(tmp_path: Path) -> None:
    with saving(("svg",)) as save:
        bad, good = save({"mark": "nonsense"}, tmp_path / "bad"), save(SPEC, tmp_path / "good")
        assert good.result() == [tmp_path / "good.svg"]
        with pytest.raises(RuntimeError, match="conversion failed"):
            bad.result()


def test_a_process_that_ends_too_early_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.figures.parallel.conversion.__file__", "no-such-script.py")
    with saving(("svg",)) as save, pytest.raises(RuntimeError, match=r"figures has ended|Broken pipe"):
        save(SPEC, tmp_path / "chart").result()


def test_without_formats_no_process_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.figures.parallel.Popen", lambda *_, **__: pytest.fail("a process was started"))
    with saving(()) as save:
        assert save(SPEC, tmp_path / "chart").result() == []
        with pytest.raises(HeadscopeError, match="figure format 'eps' is unknown"):
            save_spec(SPEC, tmp_path / "chart", ("eps",))
