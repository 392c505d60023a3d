"""The viewer inside other pages: with embedded data, several at once; and the pictures that it saves."""

import base64
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from pypdf import PdfReader
from selenium.webdriver import Chrome
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from headscope.viewer.session import ViewSession
from support.viewer_page import FIRST, followed, opened, picture, settled

MOUNT = """const [data, states, done] = arguments;
    document.body.replaceChildren(...states.map(() => document.createElement('div')));
    const outside = () => document.head.innerHTML + document.documentElement.attributes.length;
    const before = outside();
    Promise.all([import('/static/main.js'), import('/static/source.js')]).then(([{ mount }, { embeddedSource }]) => {
        window.views = states.map((state, at) => mount(document.body.children[at], embeddedSource(data), state));
        setTimeout(() => done(outside() === before), 300); });"""
DRAWN = "return [...document.querySelectorAll('.view-place canvas')].map((canvas) => canvas.toDataURL())"


def embedded(session: ViewSession) -> dict[str, Any]:
    """The answers of the server about one text, by their path, for one tile of each head."""
    text = session.text(FIRST)
    heads = [(layer, head) for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    content = {f"api/overview/{text['id']}?model=0": session.overview(text["id"])}
    for layer, head in heads:
        content[f"api/tile/{text['id']}/{layer}/{head}/0/0/0?model=0"] = session.tile(text["id"], layer, head, 0, 0, 0)
    described = {
        "api/model": session.description() | {"examples_by": []},
        "api/text": text,
        "api/numbers?model=0": session.numbers(),
    }
    return {"json": described, "bytes": {path: base64.b64encode(tile).decode() for path, tile in content.items()}}


def test_two_viewers_in_one_page_have_states_of_their_own(
    browser: Chrome, address: str, served_session: ViewSession
) -> None:
    opened(browser, address)
    data = embedded(served_session)
    assert browser.execute_async_script(MOUNT, data, ["h=1-1", "h=3-2&v=map"])
    settled(browser)
    first, second = browser.execute_script(DRAWN)
    assert first != second
    assert browser.execute_script("return document.body.querySelectorAll('[id]').length") == 0
    assert browser.find_elements("css selector", ".text-form, [data-value=try], [data-value=examples]") == []
    browser.execute_script("views[0].setState('h=2-2')")
    settled(browser)
    after = browser.execute_script(DRAWN)
    assert after[0] != first and after[1] == second
    assert browser.execute_script("return views.map((view) => view.state())") == ["h=2-2", "v=map&h=3-2"]
    removed = browser.execute_script("views[0](); return document.body.firstChild.childElementCount")
    assert removed == 0
    assert browser.get_log("browser") == []
    browser.execute_async_script(MOUNT, data, ["v=card&h=1-1", "w=words&h=1-1"])
    settled(browser)
    said = "this is not kept in the page; headscope view shows it"
    assert browser.find_element("css selector", ".card-body").text == said
    assert browser.find_element("css selector", ".error:not([hidden])").text == said


def test_pictures_are_saved_as_svg_png_and_pdf(browser: Chrome, address: str, tmp_path: Path) -> None:
    state = {"t": f"{FIRST} <b> & co", "h": "2-3", "v": "lines"}
    opened(browser, address, state, scheme="dark")
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    for view, vector in (("lines", "path"), ("heads", "image"), ("map", "image")):
        if view == "map":
            followed(browser, state | {"v": view})
        Select(browser.find_element("css selector", ".exports select")).select_by_value(view)
        for button in browser.find_elements("css selector", ".exports button")[:2]:
            button.click()
        svg, png = tmp_path / f"{view}.svg", tmp_path / f"{view}.png"
        WebDriverWait(browser, 10).until(
            lambda _, svg=svg, png=png: svg.exists() and png.exists() and png.stat().st_size
        )
        root = ElementTree.fromstring(svg.read_text(encoding="utf-8"))
        assert len(list(root.iter(f"{{http://www.w3.org/2000/svg}}{vector}"))) >= 1
        words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert ("<" in words and "&" in words) if view != "heads" else "previous" in words
        assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    browser.find_element("xpath", "//button[.='PDF']").click()
    pdf = tmp_path / "headscope.pdf"
    WebDriverWait(browser, 30).until(lambda _: pdf.exists() and pdf.stat().st_size)
    page = PdfReader(pdf).pages[0].extract_text()
    assert "[CLS]" in page and "cat" in page and "2-3" in page
    assert browser.get_log("browser") == []


def test_the_offline_page_that_is_saved_shows_the_same_picture(browser: Chrome, address: str, tmp_path: Path) -> None:
    opened(browser, address, {"t": FIRST, "h": "2-3", "v": "map", "p": "q2k1"})
    first = picture(browser)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.find_element("xpath", "//button[.='Offline page']").click()
    page = tmp_path / "headscope.html"
    WebDriverWait(browser, 20).until(lambda _: page.exists() and page.stat().st_size)
    browser.get(page.as_uri())
    assert picture(browser) == first
    assert "“" in browser.find_element("css selector", ".map-view .readout").text
    assert browser.get_log("browser") == []
