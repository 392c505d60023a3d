"""The page by keyboard alone, on a phone, in both colour schemes, and by the rules of axe-core."""

from urllib.parse import urlsplit

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys

from support.browsing import requests_of, shape, violations
from support.tiers import in_turn, paired
from support.viewer_page import FIRST, SECOND, followed, opened, picture, settled, state

LABEL = """const at = document.activeElement;
    return (at.ariaLabel || (at.labels?.length ? at.labels[0].textContent : at.textContent)).trim()"""
VIEWS = ["lines", "map", "card", "compare", "try", "importance", "examples"]


def press(browser: Chrome, *keys: str) -> None:
    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def focused(browser: Chrome) -> str:
    return browser.switch_to.active_element.accessible_name


def tab_to(browser: Chrome, name: str) -> None:
    """Press the tab key until the focus is on an element whose name begins so."""
    for _ in range(40):
        press(browser, Keys.TAB)
        # Chromium computes an accessible name anew at every step, so that the last alone is asked for.
        if browser.execute_script(LABEL).startswith(name):
            assert focused(browser).startswith(name)
            return
    raise AssertionError(f"the tab key does not reach '{name}'")


def test_everything_is_reached_and_used_by_keyboard(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "h": "1-1"})
    tab_to(browser, "Text")
    press(browser, Keys.END, " It", Keys.ENTER)
    settled(browser)
    tab_to(browser, "Head 1-1")
    press(browser, Keys.DOWN, Keys.RIGHT, Keys.ENTER)
    assert focused(browser).startswith("Head 2-2") and "h=2-2" in state(browser)
    press(browser, Keys.END, " ", Keys.HOME)
    assert focused(browser).startswith("Head 2-1") and "h=2-2,2-4" in state(browser)
    tab_to(browser, "Lines")
    press(browser, Keys.RIGHT)
    settled(browser)
    assert focused(browser) == "Heat map" and "v=map" in state(browser)
    tab_to(browser, "Attention map of head 2-2")
    press(browser, Keys.RIGHT, Keys.RIGHT, Keys.RIGHT, Keys.DOWN)
    assert browser.find_element("css selector", ".map-view .readout").text.startswith("“the” → “old”: 0.")
    press(browser, Keys.ENTER, "+")
    assert "p=q1k2" in state(browser) and "z=" in state(browser)


def test_the_lines_are_read_by_keyboard_and_the_focus_is_seen(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "h": "1-1"})
    tab_to(browser, "Head 1-1")
    assert browser.execute_script("return getComputedStyle(document.activeElement).outlineWidth") == "3px"
    tab_to(browser, "Attention lines of head 1-1")
    press(browser, Keys.DOWN, Keys.DOWN)
    readout = browser.find_element("css selector", ".lines-view .readout")
    assert readout.text.startswith("“the” attends to “")
    press(browser, Keys.RIGHT)
    assert readout.text.startswith("“the” is looked at")
    press(browser, Keys.ENTER)
    assert "p=k1" in state(browser)
    press(browser, Keys.ESCAPE)
    assert "p=" not in state(browser)


@pytest.mark.parametrize("width", in_turn([390, 320, 768]))
def test_no_view_scrolls_sideways_in_a_narrow_window(browser: Chrome, address: str, width: int) -> None:
    state = {"t": FIRST, "t2": SECOND, "h": "1-1"}
    opened(browser, address, state, width=width)
    for view in ("map", "card", "try", "examples", "lines"):
        followed(browser, state | {"v": view})
        browser.execute_script("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        settled(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, view


def test_the_edge_of_the_grid_fades_while_there_are_more_heads(browser: Chrome, address: str) -> None:
    fades = "return getComputedStyle(document.querySelector('.grid-scroll')).maskImage !== 'none'"
    opened(browser, address, {"t": FIRST}, width=390)
    assert not browser.execute_script(fades)
    browser.execute_script("document.querySelector('.grid-rows').style.minWidth = '60rem'")
    settled(browser)
    assert browser.execute_script(fades)
    browser.execute_script("document.querySelector('.grid-scroll').scrollLeft = 1000")
    settled(browser)
    assert not browser.execute_script(fades)


def test_a_resized_window_draws_the_picture_anew(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "v": "map", "h": "1-1"})
    wide = picture(browser)
    shape(browser, 390, 800)
    assert picture(browser) != wide
    canvas = "return document.querySelector('.view-place canvas').getBoundingClientRect().width"
    assert 200 < browser.execute_script(canvas) <= 390


def test_a_dark_page_has_dark_maps(browser: Chrome, address: str) -> None:
    corner = """const canvas = document.querySelector('.grid-map canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return Math.max(...data.filter((_, at) => at % 4 === 0));"""
    page = "return getComputedStyle(document.body).backgroundColor"
    opened(browser, address, {"t": FIRST}, scheme="dark")
    assert browser.execute_script(page) == "rgb(18, 23, 29)" and browser.execute_script(corner) < 230
    shape(browser, 1280, 800)
    settled(browser)
    assert browser.execute_script(page) == "rgb(255, 255, 255)" and browser.execute_script(corner) > 200


@pytest.mark.parametrize(("scheme", "first"), paired(["light", "dark"], [0, 1]))
def test_a_view_says_what_it_is_and_axe_core_finds_nothing(
    browser: Chrome, pair_address: str, scheme: str, first: int
) -> None:
    """Every other view in a page; it is opened without a word of the console, and asks no other site."""
    state = {"t": FIRST, "t2": SECOND, "h": "1-1,2-3"}
    opened(browser, pair_address, state | {"v": VIEWS[first - 2]}, scheme=scheme)
    for view in VIEWS[first::2]:
        followed(browser, state | {"v": view})
        assert (
            browser.find_element("css selector", "[role=tab][aria-selected=true]").get_attribute("data-value") == view
        )
        assert browser.find_element("css selector", ".pane h2").text.startswith("Head")
        assert len(browser.find_element("css selector", ".pane .explain").text) > 30
        browser.execute_script("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        settled(browser)
        assert browser.get_log("browser") == []
        assert violations(browser) == [], view
    assert {urlsplit(request).netloc for request in requests_of(browser)} <= {urlsplit(pair_address).netloc}
