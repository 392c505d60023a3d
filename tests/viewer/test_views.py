"""Every view of the page in a browser: opened, clicked, typed into, read as text, without a word of the console."""

from itertools import groupby

from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait
from transformers import GPT2LMHeadModel

from headscope import models
from headscope.viewer.session import ViewSession
from support.made_heads import model_of
from support.profile_result import profile_result
from support.tiny import byte_tokenizer, tiny_bert, tiny_gpt2, tiny_tokenizer
from support.viewer_page import FIRST, SECOND, followed, opened, picture, served, session_of, settled, state


def find(browser: Chrome, selector: str):
    return browser.find_element("css selector", selector)


def cell(browser: Chrome, head: str):
    return find(browser, f"[data-head='{head}']")


def test_the_grid_has_all_heads_and_its_legend_shows_those_of_one_kind(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST})
    cells = browser.find_elements("css selector", "[role=gridcell]")
    assert [element.get_attribute("data-head") for element in cells] == [
        f"{x}-{y}" for x in (1, 2, 3) for y in (1, 2, 3, 4)
    ]
    pictures = browser.execute_script(
        "return [...document.querySelectorAll('.grid-map canvas')].map((c) => c.toDataURL())"
    )
    assert len(set(pictures)) == 12
    assert "previous" in cell(browser, "2-3").accessible_name
    assert "strongest attention 0." in cell(browser, "2-3").accessible_name
    kind = find(browser, ".kind")
    name = kind.text.split()[0]
    kind.click()
    bright = browser.find_elements("css selector", ".grid-cell:not(.dim)")
    assert {element.get_attribute("data-word") for element in bright} == {name}
    find(browser, ".kind").click()
    assert browser.find_elements("css selector", ".grid-cell.dim") == []


def test_a_click_chooses_a_head_and_with_control_several(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "h": "1-1"})
    before = picture(browser)
    cell(browser, "3-2").click()
    assert picture(browser) != before and "h=3-2" in state(browser)
    ActionChains(browser).key_down(Keys.CONTROL).click(cell(browser, "1-4")).key_up(Keys.CONTROL).perform()
    assert "h=3-2,1-4" in state(browser)
    assert find(browser, ".pane h2").text.split() == ["Heads", "3-2", "1-4"]


def test_heads_are_sorted_and_framed_by_a_number(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST})
    Select(find(browser, ".controls label:nth-child(2) select")).select_by_value("entropy")
    Select(find(browser, ".controls label:nth-child(1) select")).select_by_value("entropy")
    settled(browser)
    words = [
        float(element.text.split()[-1])
        for element in browser.find_elements("css selector", "[role=row]:first-child .grid-word")
    ]
    assert words == sorted(words, reverse=True) and len(set(words)) == 4
    assert find(browser, ".legend").text.startswith("Frames: entropy of attention, from ")
    assert "c=entropy" in state(browser) and "o=entropy" in state(browser)
    find(browser, ".within input").click()
    values = [float(element.text.split()[-1]) for element in browser.find_elements("css selector", ".grid-word")]
    assert values == sorted(values, reverse=True) and len(values) == 12 and "a=1" in state(browser)
    for choice in (1, 2):
        Select(find(browser, f".controls label:nth-child({choice}) select")).select_by_value("kind")
    settled(browser)
    cells = browser.find_elements("css selector", ".grid-cell")
    kinds = [kind for kind, _ in groupby(element.get_attribute("data-word") for element in cells)]
    assert len(kinds) == len(set(kinds)) > 1 and "o=kind" in state(browser)


def test_lines_are_read_and_pinned_by_the_pointer(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "h": "2-3"})
    canvas = find(browser, ".lines-view .scroll-canvas")
    before = picture(browser)
    size = canvas.size
    ActionChains(browser).move_to_element_with_offset(
        canvas, 40 - size["width"] // 2, 33 - size["height"] // 2
    ).perform()
    assert find(browser, ".lines-view .readout").text.startswith("“the” attends to “")
    assert picture(browser) != before
    ActionChains(browser).click().move_to_element(find(browser, "h1")).perform()
    assert "p=q1" in state(browser)
    assert find(browser, ".lines-view .readout").text.startswith("“the” attends to “")


def test_the_heat_map_reads_cell_row_and_column_and_the_card_the_numbers_of_the_results(
    browser: Chrome, address: str
) -> None:
    opened(browser, address, {"t": FIRST, "h": "2-3", "v": "map", "p": "q2k1"})
    said = find(browser, ".map-view .readout").text
    assert said.startswith("“cat” → “old”: 0.") or said.startswith("“old” → “the”: 0.")
    assert "Row: attends most to “" in said and "Column: looked at most by “" in said
    followed(browser, {"t": FIRST, "h": "2-3", "v": "card"})
    card = find(browser, ".card-body")
    assert "previous token 0.88" in card.text
    assert browser.execute_script("return arguments[0].querySelectorAll('[style], [id], script').length", card) == 0


def test_a_text_is_typed_and_another_is_picked_from_the_corpus(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST})
    first, second, _ = browser.find_elements("css selector", ".text-form textarea")
    assert first.get_attribute("dir") == "auto"  # a text from right to left
    first.clear()
    first.send_keys("The dog ran")
    second.send_keys("It was old", Keys.ENTER)
    settled(browser)
    assert "t=The+dog+ran&t2=It+was+old" in state(browser)
    assert find(browser, "[data-field=across]").is_enabled()
    find(browser, ".corpora summary").click()
    settled(browser)
    browser.find_elements("css selector", ".sentences button")[1].click()
    settled(browser)
    assert first.get_attribute("value") == "A bird sat on the door." and second.get_attribute("value") == ""


def test_words_special_tokens_and_the_second_sentence_change_the_rows(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "t2": SECOND})
    tokens = rows(browser)
    assert tokens[0] == "[CLS]" and "##l" in tokens
    Select(find(browser, "[data-field=unit]")).select_by_value("words")
    first, second = ["The", "old", "cat", "slept", "."], ["It", "was", "not", "small", "."]
    assert rows(browser) == ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
    find(browser, "[data-field=special]").click()
    assert rows(browser) == [*first, *second]
    find(browser, "[data-field=across]").click()
    assert rows(browser) == first
    keys = browser.execute_script("return [...document.querySelectorAll('.facts td')].map((cell) => cell.textContent)")
    assert all(key.split()[0] in second for text in keys for key in text.split(", "))


def rows(browser: Chrome) -> list[str]:
    """The row names of the table that says what the picture shows."""
    settled(browser)
    browser.execute_script("document.querySelector('.facts').open = true")
    settled(browser)
    return browser.execute_script(
        "return [...document.querySelectorAll('.facts tbody th')].map((cell) => cell.textContent)"
    )


def test_each_model_has_cards_and_kinds_of_its_own(browser: Chrome) -> None:
    session = session_of(seeds=(0, 1))
    mirrored = profile_result(3, 4).assign_coords(head=[4, 3, 2, 1]).sortby("head")
    session.measured = (*session.measured, model_of(mirrored))
    with served(session) as page:
        opened(browser, page, {"t": FIRST, "h": "2-3", "v": "card"})
        assert cell(browser, "2-3").get_attribute("data-word") == "previous"
        assert "previous token 0.88" in find(browser, ".card-body").text
        Select(find(browser, "[data-field=model]")).select_by_value("1")
        settled(browser)
        assert cell(browser, "2-2").get_attribute("data-word") == "previous"
        assert "previous token 0.88" not in find(browser, ".card-body").text
        cell(browser, "2-2").click()
        settled(browser)
        assert "previous token 0.88" in find(browser, ".card-body").text


def test_two_models_are_compared(browser: Chrome, pair_address: str) -> None:
    opened(browser, pair_address, {"t": FIRST, "h": "2-3", "v": "compare", "p": "q2k1"})
    figures = browser.find_elements("css selector", ".compare-maps figcaption")
    assert [figure.text for figure in figures] == ["first", "second", "difference"]
    canvases = "return [...document.querySelectorAll('.compare-maps canvas')].map((c) => c.toDataURL())"
    assert len(set(browser.execute_script(canvases))) == 3
    Select(find(browser, ".controls select")).select_by_value("difference")
    settled(browser)
    changes = [float(element.text) for element in browser.find_elements("css selector", ".grid-word")]
    assert len(changes) == 12 and min(changes) > 0
    assert browser.get_log("browser") == []


def test_heads_are_switched_off_and_an_error_is_said(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "v": "try", "h": "2-3"})
    field = find(browser, ".try-form input")
    assert field.get_attribute("value") == "2-3"
    field.clear()
    field.send_keys("2-*,1-1", Keys.ENTER)
    settled(browser)
    WebDriverWait(browser, 10).until(lambda window: window.find_elements("css selector", ".answer table"))
    captions = [element.text for element in browser.find_elements("css selector", ".answer caption")]
    assert captions == ["all heads", "without these heads"]
    before, after = (table(browser, at) for at in (0, 1))
    assert len(before) == len(after) == 3 and before != after
    assert "x=2-*,1-1" in state(browser)
    field.clear()
    field.send_keys("9-9", Keys.ENTER)
    WebDriverWait(browser, 10).until(lambda window: window.find_elements("css selector", ".answer [role=alert]"))
    assert "9-9" in find(browser, ".answer").text


def test_each_token_has_its_importance(browser: Chrome, address: str, served_session: ViewSession) -> None:
    opened(browser, address, {"t": FIRST, "v": "importance", "h": "2-3", "i": "value_gradient"})
    WebDriverWait(browser, 10).until(lambda window: window.find_elements("css selector", ".answer table"))
    text = served_session.text(FIRST)
    values = served_session.importances(text["id"], "value_gradient")["values"][1]
    cells = browser.find_elements("css selector", ".answer td[title]")
    assert [float(cell.get_attribute("title") or "") for cell in cells] == values
    assert [row.split()[0] for row in table(browser, 0)] == text["tokens"]
    bars = find(browser, ".answer .bars").size["width"]
    assert bars > find(browser, ".answer").size["width"] / 2
    numbers = browser.find_elements("css selector", ".grid-heads span")
    assert [number.text for number in numbers] == ["", *map(str, range(1, 5))]


def table(browser: Chrome, at: int) -> list[str]:
    rows = browser.find_elements("css selector", ".answer table")[at].find_elements("css selector", "tbody tr")
    return [row.text for row in rows]


def test_an_example_of_a_head_is_shown(browser: Chrome, address: str) -> None:
    opened(browser, address, {"t": FIRST, "v": "examples", "h": "2-3", "e": "punct"})
    buttons = browser.find_elements("css selector", ".examples button")
    assert len(buttons) == 3
    chosen = buttons[-1].text
    buttons[-1].click()
    settled(browser)
    assert find(browser, ".text-form textarea").get_attribute("value") == chosen
    assert browser.get_log("browser") == []


def test_tokens_are_readable_and_a_tooltip_has_their_own_form(browser: Chrome) -> None:
    model = models.wrap(tiny_gpt2(kind=GPT2LMHeadModel, vocab_size=256), byte_tokenizer(), "bytes")
    with served(ViewSession((model,))) as page:
        opened(browser, page, {"t": "a é", "h": "1-2", "v": "try", "x": "1-*"})
        WebDriverWait(browser, 10).until(lambda window: window.find_elements("css selector", ".answer table"))
        assert find(browser, ".answer h3").text == "next word"
        opened(browser, page, {"t": "a é", "h": "1-2"})
        assert rows(browser) == ["a", "␣", "é"]  # a text of bytes is shown in words
        Select(find(browser, "[data-field=unit]")).select_by_value("pieces")
        assert rows(browser) == ["a", "␣", "<0xC3>", "<0xA9>"] and "w=pieces" in state(browser)
        titles = "return [...document.querySelectorAll('.facts tbody th')].map((cell) => cell.title)"
        assert browser.execute_script(titles) == ["", "Ġ", "Ã", "©"]
        assert browser.get_log("browser") == []


def test_an_unknown_token_is_named_so_with_its_characters_and_the_page_says_what_its_pdf_lacks(
    browser: Chrome, address: str
) -> None:
    opened(browser, address, {"t": "The 鬱 sat.", "h": "1-2"})
    assert rows(browser)[2] == "[UNK]"
    titles = "return [...document.querySelectorAll('.facts tbody th')].map((cell) => cell.title)"
    assert [title for title in browser.execute_script(titles) if title] == ["鬱"]
    followed(browser, {"t": "The \u0378 sat.", "h": "1-2", "w": "words"})
    browser.find_element("xpath", "//button[.='PDF']").click()
    WebDriverWait(browser, 20).until(lambda window: find(browser, "[role=alert]").is_displayed())
    assert find(browser, "[role=alert]").text.startswith("no font of this machine has the characters \u0378: ")
    assert browser.get_log("browser") == []


def test_models_of_other_tokens_stand_side_by_side(browser: Chrome) -> None:
    session = session_of(seeds=(0, 1))
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens(["slept"])
    other = models.wrap(tiny_bert(2, vocab_size=len(tokenizer)), tokenizer, "other")
    pair = ViewSession((session.models[0], other))
    with served(pair) as page:
        opened(browser, page, {"t": FIRST, "h": "2-3", "v": "compare"})
        assert "different tokens" in find(browser, ".compare-view .readout").text
        assert len(browser.find_elements("css selector", ".compare-maps figure")) == 2
        opened(browser, page, {"t": FIRST, "h": "2-3", "v": "compare", "w": "words", "p": "q4k2"})
        assert len(browser.find_elements("css selector", ".compare-maps figure")) == 3
        text = pair.text(FIRST)["id"]
        one, two = (float(pair.maps(text, model).between_words(2, 3).attention[4, 2]) for model in (0, 1))
        said = f"“slept” → “old”: {one:.2f} in first, {two:.2f} in other, difference {two - one:+.2f}."
        assert find(browser, ".compare-view .readout").text == said
        pictures = "return [...document.querySelectorAll('.compare-maps canvas')].map((c) => c.toDataURL())"
        assert len(set(browser.execute_script(pictures))) == 3
        opened(browser, page, {"t": FIRST, "h": "2-3"})
        assert "##p" in rows(browser)
        Select(find(browser, "[data-field=model]")).select_by_value("1")
        assert rows(browser) == ["[CLS]", "the", "old", "cat", "slept", ".", "[SEP]"]
        assert browser.get_log("browser") == []
