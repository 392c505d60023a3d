"""The pages by the rules of axe-core, in both colour schemes; on paper they are whole."""

import base64
import re
from collections import Counter
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from unicodedata import normalize

import pytest
import xarray as xr
from pypdf import PdfReader
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from headscope.papers.paper_claim import read_papers
from headscope.papers.portrait import write_portrait
from headscope.papers.verdicts import judge
from headscope.report import write
from headscope.report.cards import Card
from headscope.report.heads_page import write_card, write_heads
from headscope.report.parts import LayerNumber
from support.made_heads import model_of, with_maps
from support.profile_result import profile_result
from support.tiers import paired

DRAWN = """return [...document.querySelectorAll('[data-chart]')].every(
    (place) => place.dataset.state === 'drawn' || place.closest('details:not([open])'))"""
RUN = """const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations'], selectors: false}).then((found) => done(found.violations.map(
    (each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`)));"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, model = tmp_path_factory.mktemp("pages"), model_of(profile_result(), with_maps())
    measured, values = model_of(profile_result(6, 12)), xr.DataArray([0.25, 0.5], {"layer": [1, 2]}, ("layer",))
    measured.__dict__["layers"] = [LayerNumber("Trees", "root", values, 2)]
    return {
        "report": write(profile_result(), folder, formats=()),
        "rows": write(profile_result(6, 12), folder / "rows", formats=()),
        "heads": write_heads([model], folder),
        "card": write_card(Card(model, 1, 1), folder),
        "portrait": write_portrait([(measured, judge(measured, read_papers()))], folder, beside=["layers.html"]),
    }


def opened(browser: Chrome, page: Path, scheme: str) -> None:
    screen = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get(page.as_uri())
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))


@pytest.mark.parametrize(("name", "scheme"), paired(["report", "heads", "card", "portrait"], ["dark", "light"]))
def test_axe_core_finds_nothing(browser: Chrome, pages: dict[str, Path], name: str, scheme: str) -> None:
    opened(browser, pages[name], scheme)
    browser.execute_script(
        "document.querySelectorAll('details:not(.vega-embed *)').forEach((one) => (one.open = true))"
    )
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    browser.set_script_timeout(60)
    assert browser.execute_async_script(RUN) == []


def test_a_picture_stands_in_the_first_screen(browser: Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["report"], "light")
    browser.execute_script("scrollTo(0, 0)")
    bounds = browser.execute_script("return document.querySelector('svg.marks').getBoundingClientRect().toJSON()")
    assert bounds["top"] < 400 and bounds["bottom"] < 800 and bounds["width"] > 500


@pytest.mark.thorough
def test_pdf_has_every_row_of_every_table(browser: Chrome, pages: dict[str, Path]) -> None:
    """The words of all tables, folded ones too, as often as the page has them, in what Chromium prints."""
    opened(browser, pages["rows"], "light")
    rows = browser.execute_script(
        "return [...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerHTML))"
    )
    words = [word for row in rows for cell in row for word in re.sub("<[^>]*>", " ", cell).split()]
    paper = PdfReader(BytesIO(base64.b64decode(browser.print_page())))
    text = " ".join(normalize("NFKC", page.extract_text()) for page in paper.pages)  # without ligatures
    printed = Counter(word.strip("()[],;") for word in text.split())
    wanted = Counter(word.strip("()[],;") for word in words)
    assert len(rows) > 500
    assert {word: count for word, count in wanted.items() if word and printed[word] < count} == {}


def test_paper_cuts_no_table_and_opens_what_is_folded(browser: Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["report"], "light")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    cut = """return [...document.querySelectorAll('.scroll')].filter(
        (box) => box.clientHeight === 0 || getComputedStyle(box).overflowY !== 'visible').length"""
    assert browser.execute_script(cut) == 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not browser.execute_script("return document.querySelector('#heads details').open")


def test_charts_are_on_paper(browser: Chrome, pages: dict[str, Path]) -> None:
    opened(browser, pages["report"], "light")
    assert base64.b64decode(browser.print_page()).startswith(b"%PDF-")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element("tag name", "nav").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
