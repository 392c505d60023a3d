"""The binary format between Python and JavaScript, and hostile tokens in every view."""

import base64
from collections.abc import Iterator

import numpy as np
import pytest
from selenium.webdriver import Chrome

from headscope import models
from headscope.viewer.session import ViewSession
from headscope.viewer.tiles import TILE, pack, quantised, unpack
from support.tiny import tiny_bert, tiny_tokenizer
from support.viewer_page import FIRST, SECOND, followed, opened, served, settled

EVIL = "<img src=x onerror=document.title='ran'>"
DECODE = """const [texts, done] = arguments;
    import('/static/binary.js').then(({ decodeTile }) => done(texts.map((text) => {
        const tile = decodeTile(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
        return [tile.height, tile.width, [...tile.maxima], [...tile.levels]]; })));"""
VALUES = """const [id, done] = arguments;
    Promise.all([import('/static/source.js'), import('/static/tile_store.js')]).then(async ([source, store]) => {
        const server = source.serverSource();
        const place = { model: 0, layer: 2, head: 3 };
        const tile = await server.tile(id, place, 0, 0, 0);
        const overview = await server.overview(id, 0);
        const values = [];
        for (let row = 0; row < tile.height; row += 1)
            for (let column = 0; column < tile.width; column += 1) values.push(store.tileValue(tile, row, column));
        done([values, [...overview.maxima], overview.side]); });"""


@pytest.fixture(scope="module")
def evil_address() -> Iterator[str]:
    """The address of a page whose model and tokens are called like markup."""
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([EVIL])
    network = tiny_bert(vocab_size=len(tokenizer))
    with served(ViewSession((models.wrap(network, tokenizer, EVIL),))) as page:
        yield page


def test_javascript_reads_the_tiles_that_python_packs_and_refuses_one_of_another_length(
    browser: Chrome, address: str
) -> None:
    opened(browser, address, {"t": FIRST})
    random = np.random.default_rng(0)
    shapes = [(1, 1), (1, TILE), (TILE, 1), (3, 7), (64, 65)]
    packed = [pack(quantised(random.random(shape).astype(np.float32))) for shape in shapes]
    decoded = browser.execute_async_script(DECODE, [base64.b64encode(content).decode() for content in packed])
    for (height, width, maxima, levels), content in zip(decoded, packed, strict=True):
        tile = unpack(content)
        assert (height, width) == tile.levels.shape
        np.testing.assert_array_equal(np.float32(maxima), tile.maximum)
        np.testing.assert_array_equal(levels, tile.levels.ravel())
    script = """const done = arguments[0]; import('/static/binary.js').then(({ decodeTile }) => {
        try { decodeTile(new ArrayBuffer(9)); done('read'); } catch (error) { done(error.message); } });"""
    assert browser.execute_async_script(script) == "a tile of another length than its size"


def test_values_in_the_page_are_the_attention(browser: Chrome, address: str, served_session: ViewSession) -> None:
    text = served_session.text(FIRST, SECOND)
    opened(browser, address, {"t": FIRST, "t2": SECOND})
    values, maxima, side = browser.execute_async_script(VALUES, text["id"])
    tile = unpack(served_session.tile(text["id"], 2, 3, 0, 0, 0))
    np.testing.assert_allclose(values, tile.attention.ravel(), atol=1e-6)
    assert side == len(text["tokens"])
    assert maxima[1 * 4 + 2] == pytest.approx(float(tile.maximum.max()), abs=1e-6)


def test_markup_in_a_token_stays_text_in_every_view(browser: Chrome, evil_address: str) -> None:
    state = {"t": f"The cat {EVIL} slept", "h": "1-1", "p": "q3k3"}
    opened(browser, evil_address, state)
    for view in ("map", "card", "compare", "try", "importance", "examples", "lines"):
        followed(browser, state | {"v": view})
        browser.execute_script("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        settled(browser)
        assert browser.execute_script("return document.images.length") == 0, view
        assert browser.title == "headscope view"
        assert EVIL in browser.find_element("css selector", ".grid-section h2").text
        if view in ("lines", "map"):
            assert EVIL in browser.find_element("css selector", f".{view}-view .readout").text
            names = "return [...document.querySelectorAll('.facts tbody th')].map((each) => each.textContent)"
            assert EVIL in browser.execute_script(names)
    assert browser.get_log("browser") == []
