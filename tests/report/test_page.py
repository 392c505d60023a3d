"""The page: whole, offline, escaped, complete; written again from the saved result without torch."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.report import rebuild, write
from headscope.report.facts import described
from support.profile_result import profile_result

FIGURES = 13


class Outline(HTMLParser):
    """The elements of a page with their attributes, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a name."""
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a profile of 4 layers and 3 heads."""
    return write(profile_result(), tmp_path_factory.mktemp("report"))


def test_page_and_figures_are_written(written: Path) -> None:
    assert written.name == "report.html"
    files = sorted(path.name for path in (written.parent / "figures").iterdir())
    assert len(files) == 2 * 2 * FIGURES
    outline = Outline(written.read_text())
    links = {attrs["href"] for attrs in outline.named("a")}
    assert {f"figures/{name}" for name in files} <= links
    assert not [path for path in written.parent.rglob(".*")]


@pytest.mark.thorough
def test_formats_choose_the_figure_files_and_each_figure_is_announced(tmp_path: Path) -> None:
    announced: list[tuple[int, int]] = []
    page = write(profile_result(), tmp_path, formats=("svg",), on_figure=lambda *count: announced.append(count))
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg"}
    assert announced == [(done, FIGURES) for done in range(1, FIGURES + 1)]
    assert "entropy.svg" in page.read_text() and "entropy.pdf" not in page.read_text()


def test_page_without_figure_files_still_has_its_charts(tmp_path: Path) -> None:
    page = write(profile_result(), tmp_path, formats=())
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert page.read_text().count("data-chart=") == FIGURES
    with pytest.raises(HeadscopeError, match="figure format 'eps' is unknown; use svg, pdf, png"):
        write(profile_result(), tmp_path, formats=("eps",))


@pytest.mark.parametrize(("study", "of_attention"), [("profile", True), ("shrink", False), ("cloze", False)])
def test_a_page_says_what_was_read_and_speaks_of_attention_where_that_is_read(study: str, of_attention: bool) -> None:
    page = described(profile_result().assign_attrs(study=study))
    assert page["attention"] == of_attention == any(term == "uniform attention" for term, _ in page["glossary"])
    assert page["lead"].startswith(catalog.study(study).question) and "tiny on sample, " in page["lead"]


def test_nothing_is_loaded_from_elsewhere(written: Path) -> None:
    outline = Outline(written.read_text())
    assert not [attrs for tag, attrs in outline.elements if "src" in attrs]
    assert {attrs["href"] for attrs in outline.named("link")} == {"data:,"}
    assert all(str(attrs["href"]).startswith(("#", "figures/")) for attrs in outline.named("a"))
    (policy,) = [attrs["content"] for attrs in outline.named("meta") if attrs.get("http-equiv")]
    assert str(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in str(policy)


def test_vega_stands_in_the_page_once_and_the_page_is_small(written: Path) -> None:
    text = written.read_text()
    assert text.count("window.vegaEmbed=") == 1
    assert len(text) < 4_000_000


def test_provenance_is_shown(written: Path) -> None:
    text = " ".join(Outline(written.read_text()).text)
    for words in ("ab" * 32, "cd" * 32, "attention interface", "empty: 1, long: 3", "torch: 2.8.0", "50 examples"):
        assert words in text
    assert "Clark et al. 2019" in text


def test_tables_hold_every_value(written: Path) -> None:
    text = written.read_text()
    part = text[text.index('data-variable="attention_to"') :]
    part = part[: part.index("</details>")]
    cells = re.findall(r"<td>([\d.]+)<i>([\d., ]+)</i></td>", part)
    values = profile_result()["attention_to"]
    assert [float(value) for value, _ in cells] == pytest.approx(values.values.ravel().tolist(), rel=1e-3)
    assert cells[int(values.values.argmax())] == ("0.9375", "0.9275, 0.9475")


def test_texts_of_the_result_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><!--"
    result = profile_result(model=evil, corpus=evil, versions=f'{{"{evil}": 1}}').assign_attrs({evil: evil})
    result["entropy"].attrs |= {"long_name": evil, "source": evil, "units": evil}
    text = write(result, tmp_path, formats=()).read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert r"\u003cscript>alert(1)\u003c/script>" in text
    assert text.count("<!--") == 0


def test_names_of_variables_are_no_paths(tmp_path: Path) -> None:
    result = profile_result(study="other")[["entropy"]].rename(entropy="../../up")
    write(result, tmp_path / "inside", formats=("svg",))
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert (tmp_path / "inside" / "figures" / "-up.svg").is_file()


def test_a_folder_without_result_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="does not exist"):
        rebuild(tmp_path)
