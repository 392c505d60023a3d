"""The atlas of a page: every head once, with its real map and what it does."""

import base64
import zlib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from headscope import Model, profile
from headscope.figures.attention_image import palette, png
from headscope.models import wrap
from headscope.report import write
from headscope.report.atlas import Atlas, atlas_of, atlas_of_heads
from headscope.report.kinds import COLOURS
from support.tiny import tiny_bert, tiny_tokenizer
from support.typed import corpus_of


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    model: Model = wrap(tiny_bert(), tiny_tokenizer())
    corpus = corpus_of("The old dog ran.", "She saw the bird.", "It was <img src=x>.")
    return profile(model, corpus, examples=2)


@pytest.fixture(scope="module")
def atlas(result: xr.Dataset) -> Atlas:
    made = atlas_of(result)
    assert made is not None
    return made


def pixels(image: str) -> np.ndarray:
    """The levels of an image, read from its file."""
    content = base64.b64decode(image.removeprefix("data:image/png;base64,"))
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    start = content.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(content[start:]), np.uint8).reshape(height, width + 1)
    return rows[:, 1:]


def test_every_head_has_its_map_of_each_input(result: xr.Dataset, atlas: Atlas) -> None:
    assert [head.name for head in atlas.heads] == [f"{layer}-{head}" for layer in (1, 2, 3) for head in (1, 2, 3, 4)]
    head = atlas.layers[1][2]
    assert len(head.images) == len(atlas.inputs) == 2
    for number, tokens in enumerate(atlas.inputs):
        size = len(tokens.tokens)
        expected = result["typical_map"].sel(layer=2, head=3).values[number, :size, :size]
        assert np.array_equal(pixels(head.images[number]), expected)


def test_head_that_a_layer_lacks_is_left_out(result: xr.Dataset) -> None:
    uneven = result.copy(deep=True)
    uneven["typical_map_maximum"].loc[{"layer": 2, "head": 4}] = np.nan
    made = atlas_of(uneven)
    assert made is not None
    assert [len(layer) for layer in made.layers] == [4, 3, 4]


def test_maps_of_no_head_are_no_atlas(result: xr.Dataset) -> None:
    empty = result.copy(deep=True)
    empty["typical_map_maximum"][:] = np.nan
    assert atlas_of(empty) is None
    assert atlas_of(empty, [result]) is not None


def test_kinds_frame_the_heads_and_make_the_legend(result: xr.Dataset) -> None:
    planted = result.copy(deep=True)
    for name in ("attention_offset", "attention_to", "entropy"):
        planted[name][:] = 0
    planted["attention_offset"].loc[{"layer": 1, "head": 2, "offset": -1}] = 0.9
    planted["attention_to"].loc[{"layer": 1, "head": 2, "token_class": "cls"}] = 0.5
    made = atlas_of(planted)
    assert made is not None
    head = made.layers[0][1]
    assert (head.kind, head.second, head.word, head.words) == ("previous", "cls", "previous", "previous, [CLS]")
    counts = [(entry["kind"], entry["count"], entry["beside"]) for entry in made.legend]
    assert counts == [("previous", 1, 0), ("cls", 0, 1), ("mixed", 11, 0)]


def test_heads_that_share_keys_and_local_layers_are_marked(result: xr.Dataset) -> None:
    shared = atlas_of(result.assign_attrs(query_groups="[2, 2, 1]", windows="[7, null, 7]"))
    assert shared is not None
    assert [head.name for head in shared.heads if shared.begins_group(head) and head.layer < 3] == ["1-3", "2-3"]
    assert [layer for layer in (1, 2, 3) if shared.is_local(layer)] == [1, 3]
    assert shared.shape == (
        " 2 neighbouring heads share keys and values; lines part them. Layers 1 and 3, underlined, look at most 7 "
        "tokens away."
    )


def test_no_map_is_stored_or_wanted(result: xr.Dataset) -> None:
    assert atlas_of(result.drop_vars(["typical_map", "typical_map_maximum"])) is None


def test_figure_has_a_frame_and_an_image_for_each_head(atlas: Atlas) -> None:
    spec = atlas.figure().chart.to_dict(validate=False)
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["image", "square", "text"]
    (rows,) = spec["datasets"].values()
    assert len(rows) == 12


def test_white_is_no_attention_and_the_scale_is_a_square_root() -> None:
    colours = palette().astype(int)
    assert colours[0].tolist() == [255, 255, 255]
    assert abs(2 * (colours[0] - colours[64]) - (colours[0] - colours[255])).max() <= 2
    assert png(np.zeros((2, 3), np.uint8)).startswith(b"\x89PNG")
    assert set(COLOURS) >= {"relation", "mixed"}


def test_page_opens_with_the_atlas_and_its_heads_open_their_cards(
    result: xr.Dataset, browser: webdriver.Chrome, tmp_path: Path
) -> None:
    page = write(result, tmp_path, formats=())
    browser.get(page.as_uri())
    heads = browser.find_elements(By.CSS_SELECTOR, ".atlas-head")
    assert len(heads) == 12 and str(heads[0].get_attribute("aria-label")).startswith("Head 1-1: ")
    sections = [element.get_attribute("id") for element in browser.find_elements(By.CSS_SELECTOR, "main > section")]
    assert sections[0] == "atlas"
    heads[4].send_keys(Keys.ARROW_RIGHT)
    large = browser.find_element(By.CSS_SELECTOR, ".atlas-large")
    assert large.is_displayed() and large.text.startswith("Head 2-2")
    heads[5].send_keys(Keys.ENTER)
    card = browser.find_element(By.ID, "head-2-2")
    assert card.is_displayed() and card.get_attribute("open") is not None
    assert "Among the 3 highest heads" in card.text


def names(browser: webdriver.Chrome) -> list[list[str]]:
    """The names of the heads as they lie, row by row."""
    rows = browser.find_elements(By.CSS_SELECTOR, ".atlas-row:not(.atlas-numbers)")
    return [
        [str(head.get_attribute("data-name")) for head in row.find_elements(By.CSS_SELECTOR, ".atlas-head")]
        for row in rows
    ]


def chosen(browser: webdriver.Chrome) -> set[str]:
    heads = browser.find_elements(By.CSS_SELECTOR, ".atlas[data-only] .atlas-head.chosen")
    return {str(head.get_attribute("data-name")) for head in heads}


@pytest.fixture(scope="module")
def planted(result: xr.Dataset) -> xr.Dataset:
    """Head 1-2 attends to the previous token and [CLS], 3-1 to [CLS]; entropy falls with layer and head."""
    made = result.copy(deep=True)
    for name in ("attention_offset", "attention_to"):
        made[name][:] = 0
    made["attention_offset"].loc[{"layer": 1, "head": 2, "offset": -1}] = 0.9
    made["attention_to"].loc[{"layer": 1, "head": 2, "token_class": "cls"}] = 0.5
    made["attention_to"].loc[{"layer": 3, "head": 1, "token_class": "cls"}] = 0.5
    made["entropy"][:] = 0.01 * (50 - 10 * made["layer"] - made["head"])
    made["entropy"].loc[{"layer": 2, "head": 1}] = np.nan
    return made


@pytest.fixture(scope="module")
def page(planted: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of the planted result."""
    return write(planted, tmp_path_factory.mktemp("planted"), formats=()).as_uri()


def test_heads_are_ordered_by_a_number_by_kind_and_back(page: str, browser: webdriver.Chrome) -> None:
    browser.get("about:blank")
    browser.get(page)
    as_stored = names(browser)

    def order(value: str) -> None:
        Select(browser.find_element(By.CSS_SELECTOR, ".atlas-order select")).select_by_value(value)

    order("entropy")
    assert names(browser)[0] == ["1-1", "1-2", "1-3", "1-4"]
    assert names(browser)[1] == ["2-2", "2-3", "2-4", "2-1"]  # that without a value is the last
    value = browser.find_element(By.CSS_SELECTOR, ".atlas-head[data-name='1-4'] .atlas-value")
    assert value.text == "1-4: 0.36"
    browser.find_element(By.CSS_SELECTOR, ".atlas-order input").click()
    assert names(browser)[2] == ["3-2", "3-3", "3-4", "2-1"]
    order("kind")
    assert names(browser)[0][:2] == ["1-2", "3-1"]
    order("")
    assert names(browser) == as_stored


def test_the_address_keeps_the_state_and_opens_it_again(page: str, browser: webdriver.Chrome) -> None:
    browser.get("about:blank")
    browser.get(page)
    Select(browser.find_element(By.CSS_SELECTOR, ".atlas-order select")).select_by_value("entropy")
    browser.find_element(By.CSS_SELECTOR, ".atlas-order input").click()
    browser.find_element(By.CSS_SELECTOR, ".kind[data-kind=previous]").click()
    Select(browser.find_element(By.CSS_SELECTOR, ".atlas-text")).select_by_index(1)
    address, order = browser.current_url, names(browser)
    assert address == f"{page}#sort=entropy&all=1&only=previous&text=1"
    browser.get("about:blank")
    browser.get(address)
    assert names(browser) == order and chosen(browser) == {"1-2"}
    images = browser.find_elements(By.CSS_SELECTOR, ".atlas-head[data-name='1-1'] img")
    assert [image.is_displayed() for image in images] == [False, True]
    browser.get("about:blank")
    browser.get(f"{page}#sort=nothing&only=<b>&head=2-2")  # what it does not know is left out
    assert chosen(browser) == set() and browser.find_element(By.ID, "head-2-2").is_displayed()
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_arrow_keys_move_between_heads_as_they_lie(page: str, browser: webdriver.Chrome) -> None:
    browser.get("about:blank")
    browser.get(page)
    stops = browser.find_elements(By.CSS_SELECTOR, ".atlas-head[tabindex='0']")
    assert [stop.get_attribute("data-name") for stop in stops] == ["1-1"]
    stops[0].send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    for key, name in ((Keys.END, "2-4"), (Keys.ARROW_DOWN, "3-4"), (Keys.HOME, "3-1"), (Keys.ARROW_LEFT, "3-1")):
        browser.switch_to.active_element.send_keys(key)
        assert browser.switch_to.active_element.get_attribute("data-name") == name
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.find_element(By.ID, "head-3-1").is_displayed() and browser.current_url.endswith("#head=3-1")


def test_other_results_of_the_model_add_their_kinds_numbers_and_maps(planted: xr.Dataset) -> None:
    own = planted[["sep_to_sep"]].assign_attrs(planted.attrs | {"study": "gradients"})
    assert atlas_of(own) is None
    made = atlas_of(own, [planted])
    assert made is not None and made.layers[0][1].words == "previous, [CLS]" and len(made.inputs) == 2


def test_of_heads_without_maps_the_kinds_are_shown(planted: xr.Dataset) -> None:
    made = atlas_of_heads([planted.drop_vars(["typical_map", "typical_map_maximum"])], [(1, 1), (1, 2), (3, 1)])
    assert [[head.word for head in layer] for layer in made.layers] == [["", "previous"], ["[CLS]"]]
    assert made.inputs == () and made.heads[0].images == ()


def test_text_of_an_input_is_escaped(atlas: Atlas, result: xr.Dataset, tmp_path: Path) -> None:
    evil = result.copy(deep=True)
    evil["typical_token"].values[0, 1] = "<img src=x onerror=alert(1)>"
    assert "<img src=x" not in write(evil, tmp_path, formats=()).read_text(encoding="utf-8")
