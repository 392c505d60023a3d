"""The steps of a training in the viewer: each has the maps of its own weights, and a slider chooses one."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from selenium.webdriver import Chrome, Keys
from transformers import BertForSequenceClassification

import headscope
from headscope import models, read
from headscope.training.steps import KeptSteps, StepKeeper
from headscope.viewer.export import offline_page
from headscope.viewer.loading import steps_of
from headscope.viewer.session import ViewSession
from support.tiny import tiny_bert, tiny_tokenizer
from support.viewer_page import FIRST, opened, picture, served, settled, state

LOADING = {"device": "cpu", "dtype": "float32", "remote_code": False}
NUMBERS = (2, 5)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training of which two steps are kept; each changes all weights."""
    folder = tmp_path_factory.mktemp("tuned")
    network = tiny_bert(0, BertForSequenceClassification)
    keeper = StepKeeper(folder / "steps", models.wrap(network, tiny_tokenizer(), "tuned"), NUMBERS)
    for number in NUMBERS:
        torch.manual_seed(number)
        with torch.no_grad():
            for weight in network.parameters():
                weight.add_(torch.randn_like(weight) * 0.05)
        keeper.on_step_end(None, SimpleNamespace(global_step=number), None)
    return folder


@pytest.fixture(scope="module")
def session(tuned: Path) -> ViewSession:
    """The steps of that training, with a corpus."""
    title, steps, prepare = steps_of(str(tuned), LOADING)
    return ViewSession(steps, (read([FIRST]),), training=title, prepare=prepare)


@pytest.fixture(scope="module")
def page(session: ViewSession) -> Iterator[str]:
    """The address of a page about them."""
    with served(session) as address:
        yield address


def alone(tuned: Path, number: int) -> ViewSession:
    """A session of one step, whose network is loaded for it alone."""
    kept = KeptSteps(tuned / "steps")
    start, model = (headscope.load(str(kept.start), head=True) for _ in range(2))
    if number:
        kept.put(model, start, number)
    return ViewSession((model,), (read([FIRST]),))


def test_each_step_has_the_maps_and_the_predictions_of_its_own_weights(tuned: Path, session: ViewSession) -> None:
    text = session.text(FIRST)["id"]
    assert [model["name"] for model in session.description()["models"]] == ["start", "step 2", "step 5"]
    answers = []
    for at, number in reversed(list(enumerate((0, *NUMBERS)))):
        other = alone(tuned, number)
        assert other.text(FIRST)["id"] == text
        for layer, head in ((1, 1), (3, 4)):
            ours, theirs = (one.maps(text, model).head_map(layer, head) for one, model in ((session, at), (other, 0)))
            np.testing.assert_array_equal(ours.attention, theirs.attention)
        answers.append(session.try_heads(text, "1-1", model=at)["before"])
        assert answers[-1] == other.try_heads(text, "1-1")["before"]
    assert answers[0] != answers[1] != answers[2]


def test_a_slider_chooses_the_step(browser: Chrome, page: str, tuned: Path) -> None:
    opened(browser, page, {"t": FIRST, "v": "map", "h": "2-3"})
    slider = browser.find_element("css selector", ".step-slider input")
    assert slider.accessible_name.strip() == "Step of the training"
    assert browser.find_element("css selector", ".grid-section h2").text == f"All heads of {tuned}"
    assert not browser.find_elements("css selector", "[data-field=model]")
    shown = [picture(browser)]
    for name in ("step 2", "step 5"):
        slider.send_keys(Keys.ARROW_RIGHT)
        settled(browser)
        assert browser.find_element("css selector", ".step-slider output").text == name
        assert browser.execute_script("return document.activeElement.type") == "range"  # it can be moved on
        shown.append(picture(browser))
    assert len(set(shown)) == 3 and "m=2" in state(browser)
    slider.send_keys(Keys.HOME)
    settled(browser)
    assert picture(browser) == shown[0] and "m=" not in state(browser)
    assert browser.get_log("browser") == []


def test_the_chosen_step_is_compared_with_the_start(browser: Chrome, page: str) -> None:
    opened(browser, page, {"t": FIRST, "v": "compare", "h": "2-3", "m": "2"})

    def titles() -> list[str]:
        return [caption.text for caption in browser.find_elements("css selector", ".compare-maps figcaption")]

    canvases = "return [...document.querySelectorAll('.compare-maps canvas')].map((c) => c.toDataURL())"
    assert titles() == ["start", "step 5", "difference"]
    last = browser.execute_script(canvases)
    browser.find_element("css selector", ".step-slider input").send_keys(Keys.ARROW_LEFT)
    settled(browser)
    assert titles() == ["start", "step 2", "difference"]
    before = browser.execute_script(canvases)
    assert before[0] == last[0] and before[1] != last[1] and before[2] != last[2]
    assert browser.get_log("browser") == []


def test_a_page_without_a_server_has_the_slider_too(browser: Chrome, session: ViewSession, tmp_path: Path) -> None:
    text = session.text(FIRST)["id"]
    (tmp_path / "page.html").write_text(offline_page(session, text, "v=map&h=2-3&m=1"), encoding="utf-8")
    browser.get(f"file://{tmp_path / 'page.html'}")
    settled(browser)
    before = picture(browser)
    assert browser.find_element("css selector", ".step-slider output").text == "step 2"
    browser.find_element("css selector", ".step-slider input").send_keys(Keys.ARROW_RIGHT)
    assert picture(browser) != before and "m=2" in state(browser)
