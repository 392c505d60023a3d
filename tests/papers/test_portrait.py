"""The portrait of a model: a page of whatever results there are."""

import base64
from io import BytesIO
from pathlib import Path

import pytest
import xarray as xr
from pypdf import PdfReader
from selenium.webdriver import Chrome

from headscope.papers import portrait
from headscope.papers.paper_claim import read_papers
from headscope.papers.portrait import strongest, write_portrait
from headscope.papers.verdicts import Judgement, judge
from headscope.report.cards import MeasuredModel
from headscope.report.claims import Claim
from headscope.report.parts import Finding, LayerNumber
from headscope.report.wording import Estimate
from support.browsing import shape
from support.made_heads import model_of
from support.profile_result import profile_result
from support.tiers import in_turn

EVIL = "<script>alert(1)</script>"


def written(folder: Path, *, beside: tuple[str, ...] = ()) -> str:
    model = model_of(profile_result())
    values = xr.DataArray([0.25, 0.75], {"layer": [1, 2]}, ("layer",))
    model.__dict__["layers"] = [LayerNumber(EVIL, f"{EVIL} words", values, 2)]
    return write_portrait(judged(model), folder, beside=beside).read_text(encoding="utf-8")


def judged(model: MeasuredModel) -> list[tuple[MeasuredModel, list[Judgement]]]:
    return [(model, judge(model, read_papers()))]


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("alone"))


def test_heads_come_first_then_layers_then_measured_claims_and_the_others_are_folded(html: str) -> None:
    parts = ["All heads at", '<table class="strip"', "Claims of the papers", '<details class="fold"', "Studies"]
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
    measured, others = html[places[2] : places[3]], html[places[3] : places[4]]
    assert 'class="verdict holds"' in measured and "not measured</span>" not in measured
    assert "not measured</span>" in others and 'class="verdict holds"' not in others
    assert '<td title="75.0%" style="--shade: 50%" class="chosen">75%</td>' in html
    assert EVIL not in html and "&lt;script&gt;alert(1)&lt;/script&gt; words" in html


def test_numbers_of_layers_are_linked_where_there_is_their_page(html: str, tmp_path: Path) -> None:
    for page, linked in ((html, False), (written(tmp_path, beside=("layers.html",)), True)):
        strip = page.partition('<table class="strip"')[2].partition("</table>")[0]
        assert strip and ('<a href="layers.html">' in strip) is linked


def test_a_page_of_one_model_has_no_contents(html: str) -> None:
    assert "<nav" not in html


def test_of_two_sentences_with_one_title_the_larger_effect_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def finding(title: str, effect: float) -> Finding:
        claim = Claim(1.0, 1.0 - effect, Estimate(effect, effect / 2, effect * 2), 900)
        return Finding.judged(claim, f"{effect}.", holds=title, fails="no", undecided="too few", unit="")

    findings = [finding("Training made the difference", 0.4), finding("One head looks back", 0.2)]
    model = model_of(profile_result())
    model.__dict__["sources"] = [None, None]
    by_study = iter([findings, [finding("Training made the difference", 0.6)]])
    monkeypatch.setattr(portrait, "_holding", lambda source: next(by_study))
    assert [one.text for one, _ in strongest(model)] == ["0.6.", "0.2."]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a portrait of 6 layers with 12 heads, with its maps."""
    folder = tmp_path_factory.mktemp("portrait")
    return write_portrait(judged(model_of(profile_result(6, 12))), folder).as_uri()


CUT = """const right = document.documentElement.clientWidth;
return [...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && one.textContent.trim()
  && one.getBoundingClientRect().right > right + 1).map((one) => one.outerHTML.slice(0, 80));"""
HIDDEN = """return [...document.querySelectorAll('main :is(td, th, .strip-kinds, .atlas-head)')].filter((one) =>
  one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 80));"""


@pytest.mark.parametrize("width", in_turn([390, 768, 900, 1280]))
def test_nothing_is_cut_in_a_window(browser: Chrome, page: str, width: int) -> None:
    shape(browser, width, 800)
    browser.get(page)
    assert browser.find_elements("css selector", ".strip td") and browser.execute_script(CUT) == []
    assert browser.execute_script(HIDDEN) == []


def test_on_paper_no_control_is_left_and_every_claim_is_there(browser: Chrome, page: str) -> None:
    browser.get(page)
    pages = PdfReader(BytesIO(base64.b64decode(browser.print_page()))).pages
    words = " ".join(" ".join(one.extract_text() for one in pages).split())
    assert "Order" not in words and "within each layer" not in words
    assert all(claim.id in words for paper in read_papers() for claim in paper.claims)
