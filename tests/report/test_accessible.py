"""The pages by the rules of axe-core, in both colour schemes; on paper they are whole."""

import base64
import re
from collections import Counter
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
from support.browsing import open_page, violations
from support.made_heads import model_of, with_maps
from support.profile_result import profile_result
from support.tiers import paired

DRAWN = """return [...document.querySelectorAll('[data-chart]')].every(
    (place) => place.dataset.state === 'drawn' || place.closest('details:not([open])'))"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    small = profile_result().sel(layer=[1, 2], head=[1, 2])  # axe-core takes seconds for a hundred marks
    folder, model = tmp_path_factory.mktemp("pages"), model_of(small, with_maps())
    measured, values = model_of(profile_result(6, 12)), xr.DataArray([0.25, 0.5], {"layer": [1, 2]}, ("layer",))
    measured.__dict__["layers"] = [LayerNumber("Trees", "root", values, 2)]
    return {
        "report": write(small, folder, formats=()),
        "heads": write_heads([model], folder),
        "card": write_card(Card(model, 1, 1), folder),
        "portrait": write_portrait([(measured, judge(measured, read_papers()))], folder, beside=["layers.html"]),
    }


def opened(browser: Chrome, page: Path, scheme: str) -> None:
    open_page(browser, page.as_uri(), scheme=scheme)
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))


@pytest.mark.parametrize(("name", "scheme"), paired(["report", "heads", "card", "portrait"], ["dark", "light"]))
def test_axe_core_finds_nothing(browser: Chrome, pages: dict[str, Path], name: str, scheme: str) -> None:
    opened(browser, pages[name], scheme)
    browser.execute_script(
        "document.querySelectorAll('details:not(.vega-embed *)').forEach((one) => (one.open = true))"
    )
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))
    assert violations(browser) == []


def test_a_picture_stands_in_the_first_screen_and_paper_cuts_nothing(browser: Chrome, pages: dict[str, Path]) -> None:
    """On paper all tables are whole, what is folded is open, and the contents are left out."""
    opened(browser, pages["report"], "light")
    browser.execute_script("scrollTo(0, 0)")
    bounds = browser.execute_script("return document.querySelector('svg.marks').getBoundingClientRect().toJSON()")
    assert bounds["top"] < 400 and bounds["bottom"] < 800 and bounds["width"] > 500
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    cut = """return [...document.querySelectorAll('.scroll')].filter(
        (box) => box.clientHeight === 0 || getComputedStyle(box).overflowY !== 'visible').length"""
    assert browser.execute_script(cut) == 0
    assert not browser.find_element("tag name", "nav").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not browser.execute_script("return document.querySelector('#heads details').open")
    assert base64.b64decode(browser.print_page()).startswith(b"%PDF-")


@pytest.mark.thorough
def test_pdf_has_every_row_of_every_table(browser: Chrome, tmp_path: Path) -> None:
    """The words of all tables, folded ones too, as often as the page has them, in what Chromium prints."""
    opened(browser, write(profile_result(6, 12), tmp_path, formats=()), "light")
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
