"""The page in a browser: labelled by keys, reloaded, undone; nothing of a text runs and nothing leaves the machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

from pattern_workshop.annotators import opened
from pattern_workshop.server import application
from pattern_workshop.written_maps import labels
from support.browsing import open_page, requests_of
from support.served import served_app
from support.unlabelled import EVIL, folder

pytestmark = pytest.mark.thorough


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page of a folder of four maps, served by another thread."""
    with served_app(application(opened(folder(tmp_path)))) as page:
        yield page


def opened_page(browser: Chrome, address: str, at: int = 0) -> Chrome:
    return shows(open_page(browser, address), at)


def shows(browser: Chrome, at: int) -> Chrome:
    """Wait until a map is on the screen."""
    script = "return document.body.dataset.at"
    WebDriverWait(browser, 10).until(lambda window: window.execute_script(script) == str(at))
    return browser


def press(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def text(browser: Chrome, id: str) -> str:
    return browser.find_element("id", id).text


def test_maps_are_labelled_by_keys_taken_up_after_a_reload_and_undone(
    browser: Chrome, address: str, tmp_path: Path
) -> None:
    opened_page(browser, address)
    press(browser, "2", "4")
    shows(browser, 2)
    assert text(browser, "progress") == "2 of 4 maps are labelled."
    assert labels(tmp_path / "labels.jsonl") == {1: "diagonal", 2: "block", 3: "", 4: ""}
    browser.refresh()
    shows(browser, 2)
    press(browser, "u")
    shows(browser, 1)
    assert labels(tmp_path / "labels.jsonl") == {1: "diagonal", 2: "", 3: "", 4: ""}
    press(browser, Keys.ARROW_LEFT)
    shows(browser, 0)
    assert "diagonal" in text(browser, "place")
    press(browser, "1")
    shows(browser, 1)
    press(browser, "1", "3", "5")
    shows(browser, 3)
    WebDriverWait(browser, 5).until(lambda window: text(window, "progress") == "All 4 maps are labelled.")
    assert list(labels(tmp_path / "labels.jsonl").values()) == [
        "vertical", "vertical", "vertical_diagonal", "heterogeneous",
    ]  # fmt: skip


def test_hovering_tells_both_tokens_and_the_attention_as_text(browser: Chrome, address: str) -> None:
    opened_page(browser, address)
    press(browser, "t")
    canvas = browser.find_element("id", "map")
    side = 76 + 560 + 6
    share = (76 + 2.5 * 112) / side - 0.5, (76 + 1.5 * 112) / side - 0.5
    offset = [
        round(part * size) for part, size in zip(share, (canvas.size["width"], canvas.size["height"]), strict=True)
    ]
    ActionChains(browser).move_to_element_with_offset(canvas, *offset).perform()
    assert text(browser, "cell") == f"{EVIL} → sat: 0.5000"
    assert browser.execute_script("return window.ran") is None


def test_nothing_leaves_the_machine_and_nothing_is_complained_of(browser: Chrome, address: str) -> None:
    opened_page(browser, address)
    press(browser, "1", "s", "t", Keys.ARROW_LEFT)
    shows(browser, 0)
    sent = requests_of(browser)
    assert len(sent) > 5
    assert all(url.startswith((address, "data:", "about:")) for url in sent)
    assert browser.get_log("browser") == []


def test_injected_scripts_do_not_run(browser: Chrome, address: str) -> None:
    opened_page(browser, address)
    inject = "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
    browser.execute_script(f"{inject} document.body.append(script)")
    assert browser.execute_script("return window.ran") is None
