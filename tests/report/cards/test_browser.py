"""The pages of heads in a browser: cards open, tables are ordered, charts are drawn only where they are seen."""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from headscope.report import write
from headscope.report.cards import Card
from headscope.report.heads_page import write_card, write_heads
from support.browsing import open_page
from support.made_heads import model_of, with_maps
from support.profile_result import profile_result

STATES = "return [...document.querySelectorAll('[data-chart]')].map((place) => place.dataset.state)"
SEEN = "return [...document.querySelectorAll('[data-chart]')].every((place) => place.dataset.state === 'drawn')"


def first_column(browser: Chrome) -> list[str]:
    return [cell.text for cell in browser.find_elements("css selector", "table.sortable tbody th")]


def press(browser: Chrome, words: str) -> None:
    (button,) = [
        element for element in browser.find_elements("css selector", "table.sortable button") if element.text == words
    ]
    browser.execute_script("arguments[0].click()", button)


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of all heads of one model."""
    return write_heads([model_of(profile_result(), with_maps())], tmp_path_factory.mktemp("heads"))


def test_a_column_orders_the_heads_and_turns_round(browser: Chrome, heads: Path) -> None:
    open_page(browser, heads.as_uri())
    assert first_column(browser)[:2] == ["1-1", "1-2"]
    press(browser, "attention to previous token")
    assert first_column(browser)[0] == "2-3"
    press(browser, "attention to previous token")
    assert first_column(browser)[-1] == "2-3"
    press(browser, "Pattern")
    assert first_column(browser)[0] == "1-2" and first_column(browser)[-1] not in ("1-1", "1-2", "2-1", "2-2")
    press(browser, "Head")
    assert first_column(browser)[:2] == ["1-1", "1-2"]
    assert browser.get_log("browser") == []


def test_choosing_a_head_opens_its_card_and_draws_its_map(browser: Chrome, heads: Path) -> None:
    open_page(browser, heads.as_uri())
    assert browser.execute_script(STATES) == [None]
    link = next(
        element for element in browser.find_elements("css selector", "table.sortable a") if element.text == "1-1"
    )
    browser.execute_script("arguments[0].click()", link)
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(SEEN))
    (card,) = browser.find_elements("css selector", "details.card[open]")
    assert card.find_element("tag name", "summary").text == "1-1" and "t12" in card.text
    assert browser.get_log("browser") == []


def test_a_card_draws_everything_without_a_word(browser: Chrome, tmp_path: Path) -> None:
    open_page(browser, write_card(Card(model_of(profile_result(), with_maps()), 1, 1), tmp_path).as_uri())
    WebDriverWait(browser, 30).until(lambda window: window.execute_script(SEEN))
    assert len(browser.find_elements("css selector", "[data-chart] svg.marks")) == 2
    assert browser.find_element("tag name", "h1").text == "Head 1-1 of tiny"
    assert browser.get_log("browser") == []


@pytest.mark.always
def test_the_page_of_a_result_orders_its_heads_too(browser: Chrome, tmp_path: Path) -> None:
    open_page(browser, write(profile_result(), tmp_path, formats=()).as_uri())
    browser.execute_script("document.querySelector('#heads details').open = true")
    press(browser, "attention to previous token")
    assert first_column(browser)[0] == "2-3"
