"""The tools that make the pictures of the docs: what they draw, and what they say where they cannot."""

import re
import runpy
import struct
from functools import cache
from pathlib import Path

import pytest

import headscope
from headscope.studies.words.attributions import METHODS

SRC = Path(headscope.__path__[0])
PICTURES = re.compile(r"[\w-]+\.(?:png|svg|webp)")
LEAST = 8  # letters of a text with holes
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


def test_each_picture_is_made_by_a_script() -> None:
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "tools").glob("*.py"))
    named = {Path(name).stem for name in PICTURES.findall(scripts)} | {*tool("table_pictures")["PICTURES"]}
    named |= {f"{study}-{figure}" for study, figures in tool("gallery")["FIGURES"].items() for figure in figures}
    there = {path.stem for path in DOCS.rglob("*.*") if PICTURES.fullmatch(path.name)}
    assert there - named == set()


@cache
def strings() -> tuple[str, list[re.Pattern[str]]]:
    """What this version can write: its sources, and the texts in them that have holes."""
    paths = [path for kind in ("*.py", "*.js", "*.html") for path in SRC.rglob(kind)]
    sources = [path.read_text(encoding="utf-8") for path in [*paths, *(DOCS / "tools").glob("*.py")]]
    texts = plain("\n".join(sources))
    parts = [re.split("{[^{}]*}", text) for text in re.findall(r'\bf"([^"\n]*)"', texts)]
    holes = ["(.+)".join(map(re.escape, text)) for text in parts if sum(map(str.isalpha, "".join(text))) >= LEAST]
    numbers = (DOCS / "numbers.md").read_text(encoding="utf-8").replace("\n", " ")
    return texts + plain(numbers), [re.compile(pattern) for pattern in holes]


def plain(text: str) -> str:
    return text.replace("_", " ").casefold()


def unknown(text: str) -> list[str]:
    """The parts of a text that no text of this version has; units and numbers are no parts."""
    texts, holes = strings()
    words = plain(re.sub(r" \([^)]*\)$", "", text))
    filled = [match.groups() for match in (pattern.fullmatch(words) for pattern in holes) if match]
    if words in texts or any(all(part in texts for part in parts) for parts in filled):
        return []
    parts = [part.strip(" .0123456789+-−%") for part in re.split("[,:→·|] ?", words)]
    return [part for part in parts if part not in texts]


def shown_in(picture: Path) -> list[str]:
    """What is written in a picture beside data: in a chart its titles and legends, in a page its controls."""
    made = tool("chromium")
    if picture.suffix == ".svg":
        return made["labels_of"](picture.read_text(encoding="utf-8"))
    return made["words_of"](picture.read_bytes())["labels"]


def test_pictures_say_what_this_version_says() -> None:
    of_tables = tool("table_pictures")["PICTURES"]
    pictures = [path for path in DOCS.rglob("*.*") if path.suffix in (".svg", ".png") and path.stem not in of_tables]
    empty = {path.stem for path in pictures if not shown_in(path)}
    assert empty == set(), "make these pictures again: they hold no words"
    stale = {path.name: [part for text in shown_in(path) for part in unknown(text)] for path in pictures}
    assert {name: parts for name, parts in stale.items() if parts} == {}, "make these pictures again"


def test_pictures_have_all_that_this_version_has() -> None:
    methods = {text for _, text in words(DOCS / "attributions.svg")}
    assert {*METHODS.values()} <= methods
    views = re.findall(r'\["\w+", "([^"]+)"\]', (SRC / "viewer" / "static" / "words.js").read_text(encoding="utf-8"))
    assert "Importance" in views and {*views} <= {*shown_in(DOCS / "viewer-compare.png")}
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (claims,) = re.findall(r"^Of \d+ claims .*$", readme, re.MULTILINE)
    assert any(claims in line for line in tool("chromium")["words_of"]((DOCS / "portrait.png").read_bytes())["lines"])


def test_words_are_kept_in_a_picture() -> None:
    made = tool("chromium")
    end = struct.pack(">I", 0) + b"IEND" + bytes(4)
    png = made["with_words"](b"\x89PNG" + end, {"labels": ["Lines → é"], "lines": []})
    assert png.endswith(end) and made["words_of"](png)["labels"] == ["Lines → é"]
    assert made["words_of"](b"\x89PNG" + end)["labels"] == []


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
