"""The state in the address: a link restores the picture, and no fragment breaks the page."""

import json
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from support.browsing import requests_of
from support.viewer_page import FIRST, SECOND, followed, opened, picture, served, session_of, settled, state

LONG = " ".join(f"cat {'abcdefghijklmnopqrstuvwxyz'[at % 26]}" for at in range(350))
STRANGE = [
    "",
    "v=nonsense&h=9-99,x,0-1&w=2&s=&z=1e999&at=-1,x&p=q999999k-1&c=__proto__&o=toString&k=zz&m=7&g=&x=%&xm=?",
    "h=" + ",".join(f"{at}-1" for at in range(1, 500)),
    "t=%F0%9F%98%80&v=map&z=-3",
    "%%%=%%%&&&===",
    "__proto__=1&constructor=2",
]


@pytest.fixture(scope="module")
def long_address() -> Iterator[str]:
    """The address of a page whose model reads 700 tokens."""
    with served(session_of(max_tokens=700)) as page:
        yield page


@pytest.mark.parametrize(
    "given",
    [
        {"t": FIRST, "v": "lines", "h": "2-3,1-1", "p": "q2", "s": "0"},
        {"t": FIRST, "t2": SECOND, "v": "lines", "h": "3-1", "w": "words", "b": "1", "p": "k7"},
        {"t": FIRST, "v": "map", "h": "3-4", "n": "row", "p": "q3k2", "c": "entropy", "o": "entropy"},
    ],
)
def test_a_link_restores_the_picture(browser: Chrome, address: str, given: dict[str, str]) -> None:
    opened(browser, address, given)
    first, link = picture(browser), browser.current_url
    fragment = state(browser)
    assert all(f"{name}={value.replace(' ', '+')}" in fragment for name, value in given.items())
    followed(browser, {"t": "Other text", "h": "1-2"})
    assert picture(browser) != first
    browser.get("about:blank")
    browser.get(link)
    assert picture(browser) == first and browser.current_url == link


def test_a_link_restores_the_zoom_and_the_place_in_a_long_text(browser: Chrome, long_address: str) -> None:
    opened(browser, long_address, {"t": LONG, "v": "map", "h": "1-1", "z": "12", "g": "0"})
    browser.execute_script("const map = document.querySelector('.scroll-canvas'); map.scrollTo(2400, 3600)")
    settled(browser)
    assert "at=300,200" in state(browser)
    first, link = picture(browser), browser.current_url
    browser.get("about:blank")
    browser.get(link)
    WebDriverWait(browser, 5).until(lambda window: picture(window) == first)


def test_tiles_are_asked_for_when_they_are_looked_at(browser: Chrome, long_address: str) -> None:
    opened(browser, long_address, {"t": LONG, "v": "map", "h": "1-1", "z": "12", "g": "0"})
    tiles = [
        request.split("/api/tile/")[1].split("/", 1)[1] for request in requests_of(browser) if "/api/tile/" in request
    ]
    assert tiles == ["1/1/0/0/0?model=0"]
    browser.execute_script("document.querySelector('.scroll-canvas').scrollTo(6000, 0)")
    settled(browser)
    later = [request for request in requests_of(browser) if "/api/tile/" in request][1:]
    assert 1 <= len(later) <= 2 and all("/1/1/0/0/" in request for request in later)


def test_a_link_that_is_opened_in_the_page_is_followed(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "h": "1-1"})
    followed(browser, "t=A+dog&h=3-3&v=map")
    assert browser.find_element("css selector", ".pane h2").text[:8] == "Head 3-3"
    assert browser.find_element("css selector", "[aria-selected=true][role=tab]").text == "Heat map"


def test_no_fragment_breaks_the_page(browser: Chrome, address: str) -> None:
    opened(browser, address)
    for fragment in STRANGE[1:]:
        followed(browser, fragment)
        assert browser.find_elements("css selector", ".error:not([hidden])") == [], fragment
        assert browser.get_log("browser") == [], fragment
    browser.get("about:blank")
    browser.get(f"{address}#{STRANGE[1]}")
    settled(browser)
    assert browser.find_elements("css selector", ".error:not([hidden])") == [] == browser.get_log("browser")


def test_a_state_that_is_written_is_read_again(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST})
    texts = ["v=try&k=cls&m=1&g=0&x=3-7%2C4-*&xm=mean&e=sep", *STRANGE]
    script = """const [texts, done] = arguments;
        import('/static/state.js').then(({ parseState, formatState }) => done(texts.map((text) => {
            const once = formatState(parseState(text));
            return [once, formatState(parseState(once))]; })));"""
    again = browser.execute_async_script(script, texts)
    assert all(one == two for one, two in again), json.dumps(again)
    assert again[0][0] == texts[0]
