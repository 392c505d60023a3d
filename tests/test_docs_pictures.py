"""The tools that make the pictures of the docs: what they draw, and what they say where they cannot."""

import re
import runpy
import struct
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch):
    """Tools import each other, as where one of them is run."""
    monkeypatch.syspath_prepend(str(DOCS / "tools"))


def tool(name: str) -> dict:
    return runpy.run_path(str(DOCS / "tools" / f"{name}.py"))


def words(picture: Path) -> list[tuple[str, str]]:
    """What is written in a picture, and what its marks stand for; sizes depend on the fonts of a machine."""
    return re.findall(r'aria-label="([^"]*)"|>([^<]+)<', picture.read_text(encoding="utf-8"))


def test_pictures_of_tables_are_those_of_the_pages(tmp_path):
    made = tool("table_pictures")
    (tmp_path / "measured").mkdir()
    for page, _ in made["PICTURES"].values():
        (tmp_path / f"{page}.md").write_bytes((DOCS / f"{page}.md").read_bytes())
    made["main"](tmp_path)
    stale = [name for name in made["PICTURES"] if words(tmp_path / f"{name}.svg") != words(DOCS / f"{name}.svg")]
    assert not stale, "run 'make docs-figures'"
    assert any("in per cent: 63; phenomenon: binding" in label for label, _ in words(DOCS / "cloze.svg"))


def test_treebank_pictures_are_skipped_without_data(tmp_path, monkeypatch, capsys):
    made = tool("treebank_pictures")
    monkeypatch.delenv("HEADSCOPE_DATA", raising=False)
    made["main"](tmp_path, tmp_path)
    assert "layers.svg: skipped, HEADSCOPE_DATA names no folder of data sets" in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    made["main"](tmp_path, tmp_path)
    assert f"'{tmp_path / made['WIKI']}' is not there" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["report_pictures", "viewer_pictures"])
def test_pictures_of_pages_are_skipped_without_a_browser(name, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [name])
    tool(name)["main"]()
    assert "chromium and chromedriver not found; install Chromium" in capsys.readouterr().out


def test_a_tour_is_an_animated_picture_of_its_frames():
    still = b"RIFF\x14\x00\x00\x00WEBPVP8X\x00\x00\x00\x00VP8 \x03\x00\x00\x00abc\x00"
    made = tool("chromium")["tour"]([(0, still), (6, still)], 10, 4, 0.5)
    name, size = struct.unpack_from("<4sI", made)
    assert (name, size, made[8:16]) == (b"RIFF", len(made) - 8, b"WEBPVP8X")
    first, second = (made[index - 4 :] for index in (made.find(b"ANMF") + 4, made.rfind(b"ANMF") + 4))
    # left and top halved, width and height less one, milliseconds
    assert [int.from_bytes(second[at : at + 3], "little") for at in range(8, 23, 3)] == [3, 0, 3, 3, 500]
    assert [int.from_bytes(first[at : at + 3], "little") for at in range(8, 23, 3)] == [0, 0, 9, 3, 500]
    assert second[24:] == b"VP8 \x03\x00\x00\x00abc\x00"
