"""Card, Try it and Examples as pictures, and what each layer knows."""

import re
from pathlib import Path

import pytest
import xarray as xr
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from headscope.figures.labels import head_name
from headscope.figures.words import dependency_trees
from headscope.report.layers_page import NUMBERS, LayerPart, layer_parts
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.viewer.export import embedded, exported
from headscope.viewer.session import Missing, ViewSession
from headscope.viewer.view_state import ViewState, parse_state
from support.viewer_page import opened, served, session_of, settled

EVIL = "The <img src=x onerror=document.title=1> cat slept."


@pytest.fixture(scope="module")
def session() -> ViewSession:
    made = session_of()
    depth = LayerNumber("Trees", "tree depth", xr.DataArray([0.1, 0.5, 0.3], {"layer": [1, 2, 3]}, ("layer",)), 2)
    measured = made.measured[0]
    assert measured is not None
    vars(measured)["layers"] = [depth]
    edges = Table("tree-1", "Edges", ("Word",), (Column("gold", "Gold"),), [(("<b>She",), [("yes", "")])])
    tree = Figure("tree-1", "Trees", dependency_trees(["<b>She", "slept"], [(0, 1)], [(0, 1)]), "Gold", "", edges)
    vars(made)["_panels"] = [[*layer_parts(measured), LayerPart("Trees", (), (tree,), ())]]
    return made


@pytest.fixture(scope="module")
def text(session: ViewSession) -> str:
    return session.text(EVIL)["id"]


def words_of(svg: bytes) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode()))


def test_a_picture_of_a_card_has_its_sentences(session: ViewSession, text: str) -> None:
    words = words_of(exported(session, text, "v=card&h=2-3", "svg").content)
    assert "Head 2-3 of" in words and "profile on sample" in words
    card = session.head_card(2, 3)
    sentences = [finding.text for part in card.parts for finding in part.findings]
    assert sentences and all(sentence[:40] in words for sentence in sentences)
    assert card.rank_rows and all(f"{row.words} {row.value}, "[:40] in words for row in card.rank_rows)


def test_a_picture_of_try_it_has_the_predictions_of_both_sides(session: ViewSession, text: str) -> None:
    words = words_of(exported(session, text, "v=try&x=1-*,2-1&xm=zero", "svg").content)
    answer = session.try_heads(text, "1-*,2-1", "zero")
    assert "all heads" in words and f"without {answer['heads']}" in words
    for side in ("before", "after"):
        for item in answer[side][0]["items"]:
            assert item["text"] in words and f"{item['value']:.3f}" in words
    assert "&lt;img" in exported(session, text, "v=try&x=1-1", "svg").content.decode()


def test_a_picture_of_examples_has_those_of_the_page(session: ViewSession, text: str) -> None:
    words = words_of(exported(session, text, "v=examples&h=1-1&e=sep", "svg").content)
    examples = session.examples(1, 1, "sep")
    assert examples and all(example["text"] in words and f"{example['value']:.3f}" in words for example in examples)


def test_examples_are_by_the_kind_of_the_head(session: ViewSession) -> None:
    for layer, head, kind, word in session.numbers()["kinds"]:
        focus = session.usual_focus(layer, head)
        fitting = [
            choice for choice in session.description()["examples_by"] if choice == kind or choice.startswith(f"{word}:")
        ]
        assert focus == (fitting or session.description()["examples_by"])[0], head_name(layer, head)


@pytest.mark.parametrize(("format", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_such_pictures_have_the_other_formats(session: ViewSession, text: str, format: str, start: bytes) -> None:
    assert exported(session, text, "v=card&h=1-1", format).content.startswith(start)


def test_the_state_names_heads_that_are_off() -> None:
    assert parse_state("v=try&x=3-7,4-*&xm=mean&e=cls") == ViewState("try", off="3-7,4-*", mode="mean", by="cls")
    assert parse_state("xm=other").mode == "uniform"


def test_panels_are_kept_in_a_page_and_their_text_is_text(session: ViewSession, text: str) -> None:
    answers = embedded(session, text, parse_state("h=2-3"))["json"]
    assert answers["api/numbers?model=0"]["panels"] == [NUMBERS, "Trees"]
    assert "&lt;b&gt;She" in answers["api/panel/1?model=0"] and "<b>She" not in answers["api/panel/1?model=0"]
    with pytest.raises(Missing, match="there is no panel 2 of model 0: it has 2"):
        session.panel(2)


def test_the_page_saves_a_card_and_shows_layers(browser: Chrome, session: ViewSession, tmp_path: Path) -> None:
    with served(session) as address:
        opened(browser, address, {"v": "card", "h": "2-3"})
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        browser.find_element("xpath", "//button[.='SVG']").click()
        browser.find_element("xpath", "//button[.='PNG']").click()
        svg, png = tmp_path / "card.svg", tmp_path / "card.png"
        WebDriverWait(browser, 10).until(lambda _: svg.exists() and png.exists() and png.stat().st_size)
        assert "profile on sample" in words_of(svg.read_bytes())
        for panel in browser.find_elements("css selector", ".layers > summary"):
            panel.click()
        settled(browser)
        assert [element.text for element in browser.find_elements("css selector", ".layers > summary")] == [
            NUMBERS,
            "Trees",
        ]
        assert "Other examples chose layer 2 for tree depth." in browser.find_element("css selector", ".layers").text
        for fold in browser.find_elements("css selector", ".layers .fold summary"):
            fold.click()
        rows = [row.text for row in browser.find_elements("css selector", ".layers tbody tr")]
        assert rows == ["tree depth 10.0 50.0 30.0", "<b>She yes"]
        trees = browser.find_elements("css selector", ".layers + .layers .chart img")
        assert [tree.is_displayed() for tree in trees] == [True, False]
        assert trees[0].get_attribute("naturalWidth") != "0"
        assert trees[0].accessible_name == "<b>She slept: 1 of 1 edges of the gold tree are predicted."
        assert browser.get_log("browser") == []
        assert (
            browser.find_elements("css selector", ".grid-layer")[1].get_attribute("title")
            == "Layer 2: chosen for tree depth"
        )
