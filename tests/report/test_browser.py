"""The page in a browser: drawn, offline, safe, on a phone, by keyboard; on paper: test_accessible.py."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from headscope.report import write
from support.browsing import open_page, requests_of
from support.profile_result import profile_result
from support.tiers import in_turn

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>" + 60 * "x"
DRAWN = "return [...document.querySelectorAll('[data-chart]')].every((place) => place.dataset.state === 'drawn')"
FIGURES = 13


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page whose model has a dangerous and long name."""
    command = json.dumps(["profile", "minilm", "a-corpus-with-a-long-name" * 9])
    result = profile_result(6, 12, model=EVIL, command=command)
    return write(result, tmp_path_factory.mktemp("browser"), formats=()).as_uri()


def opened(browser: Chrome, page: str, width: int = 1280) -> Chrome:
    """The page in a window of a width, once all charts are drawn."""
    open_page(browser, page, width)
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(DRAWN))
    return browser


@pytest.fixture(scope="module")
def shown(browser: Chrome, page: str) -> Chrome:
    """The page, opened once for the tests that stand next to each other and need it in no other window."""
    return opened(browser, page)


@pytest.mark.always
def test_all_charts_are_drawn_without_a_word_and_without_a_network(shown: Chrome) -> None:
    assert len(shown.find_elements("css selector", "[data-chart] svg.marks")) == FIGURES
    marks = "return document.querySelectorAll('[data-chart=entropy] .mark-rect.role-mark path').length"
    assert shown.execute_script(marks) == 72
    assert shown.get_log("browser") == []
    schemes = [urlsplit(request).scheme for request in requests_of(shown)]
    assert schemes.count("file") == 1
    assert set(schemes) <= {"file", "data", "blob"}


def test_a_dangerous_name_is_text(shown: Chrome) -> None:
    assert shown.find_element("tag name", "h1").text == EVIL
    assert shown.execute_script("return document.querySelectorAll('img').length") == 0


def test_hovering_tells_head_value_and_interval(shown: Chrome) -> None:
    cell = shown.find_elements("css selector", "[data-chart=entropy] .mark-rect.role-mark path")[0]
    shown.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)
    ActionChains(shown).move_to_element(cell).perform()
    tooltip = WebDriverWait(shown, 5).until(
        lambda window: window.find_element("css selector", "#vg-tooltip-element.visible").text
    )
    assert "1-1" in tooltip and "3.1875" in tooltip and "3.1775" in tooltip and "50" in tooltip


def test_a_link_opens_the_table_of_its_figure(shown: Chrome) -> None:
    link = shown.find_element("css selector", "#figure-entropy [data-opens]")
    shown.execute_script("arguments[0].click()", link)
    table = shown.find_element("css selector", "[data-variable=entropy] table")
    assert table.is_displayed()
    assert table.find_element("tag name", "caption").text == "Entropy of attention (nats)"


def test_a_table_is_downloaded_as_tidy_csv(shown: Chrome, tmp_path: Path) -> None:
    shown.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    shown.execute_script("document.querySelector('button.csv[data-name=attention_to]').click()")
    path = tmp_path / "attention_to.csv"
    WebDriverWait(shown, 10).until(lambda _: path.exists() and path.stat().st_size)
    lines = path.read_text().splitlines()
    assert lines[0] == "layer,head,token_class,value,lower,upper,n_examples"
    assert len(lines) == 1 + 6 * 12 * 4
    assert "3,1,sep,0.9375,0.9275,0.9475,50" in lines


def test_injected_scripts_do_not_run(shown: Chrome) -> None:
    inject = "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
    shown.execute_script(f"{inject} document.body.append(script)")
    assert shown.execute_script("return window.ran") is None
    assert any("Content Security Policy" in entry["message"] for entry in shown.get_log("browser"))


@pytest.mark.parametrize("width", in_turn([320, 375, 768]))
def test_the_page_does_not_scroll_sideways_and_cut_columns_fade(browser: Chrome, page: str, width: int) -> None:
    opened(browser, page, width)
    browser.execute_script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    browser.execute_script("scrollTo(1000, 0)")
    page_width, scrolled = browser.execute_script("return [document.documentElement.scrollWidth, scrollX]")
    assert page_width <= width and scrolled == 0
    if width > 400:
        return
    cut = "return [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 4)"
    fades = "return getComputedStyle(arguments[0]).maskImage !== 'none'"
    WebDriverWait(browser, 5).until(lambda window: all(window.execute_script(fades, box) for box in boxes(cut, window)))
    box = boxes(cut, browser)[0]
    caption = "const caption = arguments[0].querySelector('caption'); return caption ? caption.offsetWidth : 0"
    assert browser.execute_script(caption, box) < width
    browser.execute_script("arguments[0].scrollLeft = 5000", box)
    WebDriverWait(browser, 5).until(lambda window: not window.execute_script(fades, box))


def boxes(script: str, browser: Chrome) -> list[WebElement]:
    """The elements that a script returns, at least one."""
    found = browser.execute_script(script)
    assert found
    return found


def test_the_keyboard_reaches_contents_charts_and_tables(browser: Chrome, page: str) -> None:
    opened(browser, page, 375)
    # Chromium computes an accessible name anew at every step, so that the last alone is asked for.
    focus = """const at = document.activeElement;
        return [at.localName, at.className, at.ariaLabel || at.title || at.textContent.trim()]"""
    reached = []
    for _ in range(200):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        reached.append(tuple(browser.execute_script(focus)))
        if reached[-1][0] == "summary" and reached[-1][2].startswith("Entropy of attention (nats)"):
            break
    assert browser.switch_to.active_element.accessible_name.startswith("Entropy of attention (nats)")
    assert reached[0] == ("a", "skip", "Skip to the findings")
    assert ("a", "", "Glossary") in reached
    assert ("summary", "", "All findings, with intervals and tests") in reached
    assert ("summary", "", "Save this chart") in reached
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert browser.execute_script("return document.querySelector('[data-variable=entropy]').open")
