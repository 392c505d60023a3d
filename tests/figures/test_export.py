"""Figures as files: valid, whole, and drawn without a network."""

import re
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import pytest

from headscope.errors import HeadscopeError
from headscope.figures import heatmap, save, with_interval
from support.profile_result import profile_result


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
    labels = alt.Data(values=[{"label": f"{each}\x1bb\x08\u2028\\b\n"} for each in "ca"])
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
