"""A view as a file: an offline page, or a picture."""

import re
from base64 import b64decode
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from starlette.testclient import TestClient

from headscope import HeadscopeError, models, profile
from headscope.report.cards.model_results import model_of
from headscope.viewer import export
from headscope.viewer.export import NO_CHARACTER, embedded, export_file, exported, glyph_notice, script
from headscope.viewer.routes import reply
from headscope.viewer.server import application
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import FIELDS, VIEWS, ViewState, fragment, parse_state
from headscope.viewer.widget import result_session
from support.browsing import requests_of
from support.tiny import byte_tokenizer, tiny_bert, tiny_tokenizer

EVIL = "The <img src=x onerror=document.title=1> cat </script><script>document.title=2</script> slept."
STATE = "v=map&h=2-3&w=words"
UNASSIGNED = "\u0378\U0010fffd"  # no character, and one of private use: no font that draws text has them


@pytest.fixture(scope="module")
def session() -> ViewSession:
    model = models.wrap(tiny_bert(), tiny_tokenizer())
    return ViewSession((model,), (), (model_of(profile(model, ["The cat slept.", "It rained."])),))


@pytest.fixture(scope="module")
def text(session: ViewSession) -> str:
    return session.text(EVIL, "It rained.")["id"]


def ready(browser: Chrome) -> None:
    """Wait until the view is there."""
    WebDriverWait(browser, 20).until(lambda window: window.find_elements(By.CSS_SELECTOR, ".view-place canvas"))
    WebDriverWait(browser, 20).until_not(lambda window: window.find_elements(By.CSS_SELECTOR, "[aria-busy]"))


def faults(browser: Chrome) -> list[str]:
    """Errors of the console, and requests that leave the file."""
    lines = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    return [*lines, *(url for url in requests_of(browser) if not url.startswith(("file:", "data:", "blob:")))]


def test_page_is_whole_offline_and_restores_its_state(
    session: ViewSession, text: str, browser: Chrome, tmp_path: Path
) -> None:
    page = export_file(session, text, tmp_path / "view.html", STATE)
    browser.get_log("browser")
    browser.get(page.as_uri())
    ready(browser)
    assert browser.find_element(By.CSS_SELECTOR, ".pane h2").text.startswith("Head 2-3")
    assert browser.find_element(By.CSS_SELECTOR, "[role=tab][aria-selected=true]").text == "Heat map"
    assert len(browser.find_elements(By.CSS_SELECTOR, ".grid canvas, .heads canvas, canvas")) > 1
    for tab in browser.find_elements(By.CSS_SELECTOR, "[role=tab]"):
        tab.click()
    assert "Head 2-3" in browser.find_element(By.CSS_SELECTOR, ".card-view").text
    assert browser.title == "in memory – headscope" and "<img src=x" in browser.find_element(By.TAG_NAME, "main").text
    assert faults(browser) == []


def test_page_of_a_result_alone_opens(browser: Chrome, tmp_path: Path) -> None:
    model = models.wrap(tiny_bert(), tiny_tokenizer())
    session, text = result_session(profile(model, ["The cat slept.", "It rained."]), 1)
    browser.get(export_file(session, text, tmp_path / "result.html").as_uri())
    ready(browser)
    assert "it rained" in browser.find_element(By.CSS_SELECTOR, ".text-line").text
    assert faults(browser) == []


def test_stored_maps_are_those_of_the_result() -> None:
    result = profile(models.wrap(tiny_bert(), tiny_tokenizer()), ["The cat slept."])
    session, text = result_session(result)
    peak = result["typical_map_maximum"].values[0, 1, 2]
    expected = result["typical_map"].values[0, 1, 2] / 255 * peak
    np.testing.assert_allclose(session.maps(text).head_map(2, 3).attention, expected, atol=peak / 255)
    assert session.maps(text).text.special[0] and not session.maps(text).text.special[1]


def test_result_without_maps_is_refused_with_the_remedy() -> None:
    result = profile(models.wrap(tiny_bert(), tiny_tokenizer()), ["The cat slept."], examples=0)
    with pytest.raises(HeadscopeError, match="has maps of 0 typical inputs; run the study with examples=3"):
        result_session(result)


def test_data_are_the_answers_of_the_server(session: ViewSession, text: str) -> None:
    data = embedded(session, text, ViewState(heads=((2, 3),)))
    client = TestClient(application(session), base_url="http://127.0.0.1:8000")
    for path, value in data["json"].items():
        if path not in ("api/text", "api/model"):
            answer = client.get(f"/{path}")
            assert value == (answer.text if path.startswith("api/card") else answer.json())
    assert len(data["bytes"]) == 1 + 2 * 12
    for path, value in data["bytes"].items():
        assert b64decode(value) == client.get(f"/{path}").content


def test_chosen_heads_come_first_where_there_is_no_room(session: ViewSession, text: str) -> None:
    data = embedded(session, text, ViewState(heads=((2, 3),)), most_bytes=9000)
    tiles = [path for path in data["bytes"] if "/tile/" in path]
    assert tiles and all(f"{text}/2/3/" in path for path in tiles)


def test_modules_are_joined_in_the_order_of_their_imports() -> None:
    code = script("page.js")
    assert not re.search(r"^(import|export)\b", code, re.MULTILINE)
    assert code.index("function make(") < code.index("function headGrid(") < code.index("function mount(")
    assert code.count("function mount(") == 1 and "</script" not in code


@pytest.mark.parametrize(("format", "start"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
@pytest.mark.parametrize("state", ["v=lines&h=1-1,2-2", "v=map&h=2-3&w=words&s=0", "v=heads", "v=map&b=1", "v=compare"])
def test_pictures(session: ViewSession, text: str, format: str, start: bytes, state: str) -> None:
    assert exported(session, text, state, format).content.startswith(start)


def test_tokens_are_text_in_a_picture(session: ViewSession, text: str) -> None:
    svg = exported(session, text, "v=lines&w=words", "svg").content.decode()
    assert "onerror" in svg and "<img" not in svg and "<script" not in svg
    assert svg.count(">cat<") == 2 and ">[CLS]<" in svg


def test_a_picture_names_its_head_and_its_text(session: ViewSession, text: str) -> None:
    svg = exported(session, text, "v=lines&h=1-2", "svg").content.decode()
    (title,) = re.findall(r">(Head 1-2 of [^<]*: attention in “[^<]*”)<", svg)
    assert "cat" in title and "CLS" not in title
    svg = exported(session, text, "v=heads", "svg").content.decode()
    assert re.search(r">[^<]*: all heads in “[^<]*cat[^<]*”<", svg)


def test_picture_leaves_out_what_the_state_hides(session: ViewSession, text: str) -> None:
    plain = exported(session, text, "v=lines&w=words&s=0", "svg").content.decode()
    assert ">[CLS]<" not in plain and plain.count(">cat<") == 2
    across = exported(session, text, "v=lines&w=words&b=1", "svg").content.decode()
    assert across.count(">cat<") == across.count(">rained<") == 1 and ">[CLS]<" not in across


@pytest.mark.parametrize(
    ("state", "format", "line"),
    [
        ("", "gif", "format 'gif' is unknown; there are: html, svg, pdf, png"),
        ("v=mpa", "svg", "state: there is no view 'mpa'; did you mean 'map'?"),
        ("&".join(f"a{number}=1" for number in range(65)), "html", "state: more than 64 fields"),
        ("heads=2-9", "svg", "state: there is no field 'heads'; write h= for it"),
        ("z=1&hh=2-9", "html", "state: there is no field 'hh'; did you mean 'h'?"),
        ("h=4.7", "svg", "state: '4.7' is no head; write layer and head, e.g. h=4-7"),
        ("h=9-1", "png", "there is no head 9-1: the model has 3 layers"),
        ("h=9-1", "html", "there is no head 9-1: the model has 3 layers"),
        ("v=card&m=1", "pdf", "there are no results about this model"),
        ("v=try&x=9-1", "pdf", "head '9-1' does not exist"),
        ("v=examples", "pdf", "there is no index of examples"),
        ("m=1", "pdf", "there is no model 1: models are 0 to 0"),
    ],
)
def test_wrong_requests_are_one_line(session: ViewSession, text: str, state: str, format: str, line: str) -> None:
    with pytest.raises(HeadscopeError) as error:
        exported(session, text, state, format)
    assert str(error.value).startswith(line)
    client = TestClient(application(session), base_url="http://127.0.0.1:8000")
    answer = client.post("/api/export", json={"id": text, "state": state, "format": format})
    assert answer.status_code in (400, 404) and answer.json()["error"].startswith(line)


def test_server_sends_the_file(session: ViewSession, text: str) -> None:
    client = TestClient(application(session), base_url="http://127.0.0.1:8000")
    answer = client.post("/api/export", json={"id": text, "state": STATE, "format": "pdf"})
    assert answer.content.startswith(b"%PDF") and answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == 'attachment; filename="headscope.pdf"'
    assert client.post("/api/export", json={"id": text, "state": 1, "format": "pdf"}).status_code == 400


BOX = "\u0378"  # no character: no font has it


@pytest.mark.parametrize("format", ["pdf", "png"])
def test_characters_that_no_font_has_are_said(session: ViewSession, tmp_path: Path, format: str) -> None:
    own = session.text(f"The {BOX} cat.")["id"]
    said: list[str] = []
    export_file(session, own, tmp_path / f"view.{format}", STATE, said.append)
    assert len(said) == 1 and said[0].startswith(f"no font of this machine has the characters {BOX}: ")
    with pytest.warns(UserWarning, match="no font of this machine has"):
        export_file(session, own, tmp_path / f"view.{format}", STATE)
    for other in ("svg", "html"):  # they have the fonts of whoever opens them
        export_file(session, own, tmp_path / f"view.{other}", STATE)


def test_server_and_kernel_send_what_a_pdf_lacks(session: ViewSession, text: str) -> None:
    own, body = session.text(f"The {BOX} cat.")["id"], {"state": STATE, "format": "pdf"}
    client = TestClient(application(session), base_url="http://127.0.0.1:8000")
    headers = client.post("/api/export", json={"id": own, **body}).headers
    assert unquote(headers["headscope-notice"]).startswith("no font of this machine has")
    assert "headscope-notice" not in client.post("/api/export", json={"id": text, **body}).headers
    answer, buffers = reply(session, {"path": "api/export", "body": {"id": own, **body}})
    assert answer["notice"].startswith("no font of this machine has") and buffers[0].startswith(b"%PDF")


def test_a_text_of_bytes_is_drawn_in_words_unless_the_state_says_pieces() -> None:
    session = ViewSession((models.wrap(tiny_bert(vocab_size=256), byte_tokenizer()),))
    described = session.text("ночь é")
    assert described["unit"] == "words" and session.text("a cat")["unit"] == "pieces"
    drawn = {unit: exported(session, described["id"], f"v=lines{unit}", "svg").content.decode() for unit in UNITS}
    assert drawn[""] == drawn["&w=words"] and ">ночь<" in drawn[""]
    assert ">ночь<" not in drawn["&w=pieces"] and "&lt;0x" in drawn["&w=pieces"]


UNITS = ("", "&w=words", "&w=pieces")


def test_python_reads_the_state_that_the_page_writes(browser: Chrome, tmp_path: Path) -> None:
    page = tmp_path / "state.html"
    page.write_text(f"<script>{script('state.js')}</script>", encoding="utf-8")
    browser.get(page.as_uri())
    call = (
        "return formatState({...parseState(''), view: 'map', heads: ['4-7', '5-1'], unit: 'words', special: false, "
        "across: true, model: 1, first: arguments[0]})"
    )
    state = browser.execute_script(call, EVIL)
    assert parse_state(state) == ViewState("map", ((4, 7), (5, 1)), True, False, True, 1)
    named = {"view": "map", "heads": ["4-7", "5-1"], "unit": "words", "special": False, "across": True, "model": 1}
    assert parse_qs(fragment(named | {"first": EVIL})) == parse_qs(state)
    keys = browser.execute_script("return Object.entries(FIELDS).map(([name, field]) => [name, field[0]])")
    assert dict(keys) == FIELDS
    views = browser.execute_script("return VIEWS")
    assert [*views, "heads"] == list(VIEWS)
    assert parse_state(f"t={quote(EVIL)}") == ViewState()


def test_the_line_names_the_characters_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    line = glyph_notice(f"<svg><text>{UNASSIGNED}</text></svg>")
    assert line.startswith(f"no font of this machine has the characters {UNASSIGNED}: ") and "install a font" in line
    monkeypatch.setattr(export, "_drawn", lambda letter: b"box" if letter == NO_CHARACTER or letter >= "一" else b"")
    kanji = "".join(map(chr, range(0x4E00, 0x4E14)))
    assert f"the characters {kanji[:12]} and 8 more: " in glyph_notice(f"<svg><text>{kanji}</text></svg>")
