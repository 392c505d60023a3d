"""The chart library in the user's cache folder: if it is damaged, or there is no folder, it is made anew."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from headscope.report import render


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A short library, and a cache folder of its own."""
    made = SimpleNamespace(javascript_bundle=lambda *_: "draw()")
    monkeypatch.setattr(render, "require", lambda name: made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    render.vega.cache_clear()
    yield
    render.vega.cache_clear()


@pytest.mark.parametrize("damage", [lambda text: text.replace("draw", "steal"), lambda text: text[:-3], lambda _: ""])
def test_a_library_that_is_not_as_it_was_kept_is_made_anew(damage, tmp_path: Path) -> None:
    assert render.vega() == "{draw()}"
    (path,) = (tmp_path / "headscope").iterdir()
    path.write_text(damage(path.read_text()))
    render.vega.cache_clear()
    assert render.vega() == "{draw()}" and path.read_text().endswith("{draw()}")


def test_a_machine_without_a_home_has_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert render.vega() == "{draw()}"
