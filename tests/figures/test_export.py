"""Figures as files: valid, whole, without a network; in other processes the same files, errors of each chart alone."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import pytest

from headscope.errors import HeadscopeError
from headscope.figures import export, heatmap, save, with_interval
from headscope.figures.export import save_spec, saving
from headscope.storage.kept_inputs import inputs_kept
from support.profile_result import profile_result

NUMBER = re.compile(rb"(clip|gradient)[-_]?\d+")
SPEC = heatmap(with_interval(profile_result(), "entropy")).to_dict()


def test_the_three_files_are_what_their_suffix_says(tmp_path: Path) -> None:
    paths = save(heatmap(with_interval(profile_result(), "entropy")), tmp_path / "figures" / "entropy.mean")
    assert [path.name for path in paths] == ["entropy.mean.svg", "entropy.mean.pdf", "entropy.mean.png"]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == sorted(path.name for path in paths)
    svg, pdf, png = (path.read_bytes() for path in paths)
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert svg.count(b"<path") > 12
    assert pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF") and b"/FontFile" in pdf
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and int.from_bytes(png[16:20]) > 400


def test_an_inch_of_a_pdf_is_96_pixels(tmp_path: Path) -> None:
    """So that a figure for one column is 3.3 inches wide in a paper."""
    svg, pdf, _ = save(heatmap(with_interval(profile_result(), "entropy")), tmp_path / "entropy")
    pixels = float(ElementTree.fromstring(svg.read_bytes()).attrib["width"])
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+)", pdf.read_bytes())
    assert abs(float(box) / 72 - pixels / 96) < 0.02


def test_chart_shows_in_a_notebook_without_a_network() -> None:
    bundle = heatmap(with_interval(profile_result(), "entropy"))._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data is not None and set(data) == {"image/svg+xml"} and "http://www.w3.org" in data["image/svg+xml"]


def test_characters_of_a_label_that_cannot_be_drawn_are_replaced(tmp_path: Path) -> None:
    labels = alt.Data(values=[{"label": f"{letter}\x1bb\x08\u2028\\b\n"} for letter in "ca"])
    chart = alt.Chart(labels).mark_bar().encode(y=alt.Y("label:N", sort=["a\x1bb\x08\u2028\\b\n"]))
    for picture in (save(chart, tmp_path / "chart", ["svg"])[0].read_text(), chart._repr_mimebundle_()):
        assert "a\ufffdb\ufffd\ufffd\\b" in str(picture["image/svg+xml"] if isinstance(picture, dict) else picture)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    chart = alt.Chart(alt.UrlData("http://127.0.0.1:9/data.json")).mark_point()
    with pytest.raises(ValueError, match=r"(?i)not allowed|external data|denied"):
        save(chart, tmp_path / "chart")


def test_a_folder_that_cannot_be_written_to_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(HeadscopeError, match=r"figure\.svg' cannot be written"):
        save(heatmap(with_interval(profile_result(), "entropy")), tmp_path / "file" / "figure")


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
    monkeypatch.setattr("headscope.figures.export.conversion.__file__", "no-such-script.py")
    with saving(("svg",)) as save, pytest.raises(RuntimeError, match="figures has ended"):
        save(SPEC, tmp_path / "chart").result()


def test_pages_of_a_survey_share_a_process_and_one_that_ends_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, start = [], export._started
    monkeypatch.setattr(export, "_number", lambda formats: 1)
    monkeypatch.setattr(export, "_started", lambda: started.append(start()) or started[-1])
    with inputs_kept():
        for page in ("one", "two"):
            with saving(("svg",)) as save:
                assert save(SPEC, tmp_path / page).result() == [tmp_path / f"{page}.svg"]
        assert len(started) == 1
        started[0].kill()
        started[0].wait()
        with saving(("svg",)) as save:
            with pytest.raises(RuntimeError):
                save(SPEC, tmp_path / "lost").result()
            assert save(SPEC, tmp_path / "three").result() and len(started) == 2
    assert [process.returncode for process in started] == [-9, 0]


def test_without_formats_no_process_is_started(tmp_path: Path, never: Callable) -> None:
    never("headscope.figures.export.Popen")
    with saving(()) as save:
        assert save(SPEC, tmp_path / "chart").result() == []
        with pytest.raises(HeadscopeError, match="figure format 'eps' is unknown"):
            save_spec(SPEC, tmp_path / "chart", ("eps",))
