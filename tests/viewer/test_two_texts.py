"""Two texts in one model: the words that both have, what changes in each head, and the page that shows it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from selenium.webdriver import Chrome, Keys
from starlette.testclient import TestClient

import headscope
from headscope import HeadscopeError
from headscope.front.views import export_page
from headscope.viewer.export import embedded, exported
from headscope.viewer.server import application
from headscope.viewer.session import ViewSession
from headscope.viewer.text_changes import TextChanges, same_words, text_changes
from headscope.viewer.text_maps import TextMaps
from headscope.viewer.text_tokens import text_tokens
from headscope.viewer.tiles import LEVELS, quantised
from headscope.viewer.view_state import comparing, parse_state
from support.browsing import shape
from support.tiny import tiny_tokenizer
from support.viewer_page import opened, picture, session_of, settled, state

ACTIVE, PASSIVE = "The old man saw the dog.", "The dog was seen by the old man."
OTHER = ".text-form label:nth-child(3) textarea"
EVIL = "The <img src=x onerror=document.title=1> & 'dog'</script> was seen."


@pytest.fixture(scope="module")
def session() -> ViewSession:
    return session_of()


def changes_of(session: ViewSession, first: str, second: str) -> TextChanges:
    changes = session.kept(session.text(first, None, second)["id"]).changes
    assert changes
    return changes


def shared(first: str, second: str) -> list[tuple[str, str]]:
    texts = [text_tokens(tiny_tokenizer(), 64, text) for text in (first, second)]
    return [(texts[0].words[a].text, texts[1].words[b].text) for a, b in same_words(*texts)]


def test_words_that_changed_places_are_pairs() -> None:
    plain = [("The", "the"), ("old", "old"), ("man", "man"), ("the", "The"), ("dog", "dog"), (".", ".")]
    assert shared(ACTIVE, PASSIVE) == [("[CLS]", "[CLS]"), *plain, ("[SEP]", "[SEP]")]
    assert [one for one, _ in shared("a cat ran", "a dog ran")] == ["[CLS]", "a", "ran", "[SEP]"]


@settings(max_examples=30)
@given(*[st.lists(st.sampled_from("abAB."), min_size=1, max_size=9)] * 2)
def test_as_many_words_are_pairs_as_two_texts_have_in_common(first: list[str], second: list[str]) -> None:
    pairs = shared(" ".join(first), " ".join(second))[1:-1]
    counts = [{form: sum(word.lower() == form for word in words) for form in "ab."} for words in (first, second)]
    assert len(pairs) == sum(min(count[form] for count in counts) for form in "ab.")
    assert all(one.lower() == other.lower() for one, other in pairs)


def test_changes_are_those_of_eager_attention_word_by_word(session: ViewSession) -> None:
    model = session.models[0]
    changes = changes_of(session, ACTIVE, PASSIVE)
    model.network.set_attn_implementation("eager")
    words, attentions = [], []
    for text in (ACTIVE, PASSIVE):
        tokens = text_tokens(model.tokenizer, 64, text)
        words.append([word.tokens for word in tokens.words])
        with torch.inference_mode():
            ids = torch.from_numpy(tokens.encoded.inputs["input_ids"])[None]
            attentions.append(model.network(input_ids=ids, output_attentions=True).attentions)

    def weight(text: int, layer: int, head: int, query: int, key: int) -> float:
        weights = attentions[text][layer - 1][0, head - 1]
        rows, columns = words[text][query], words[text][key]
        return sum(float(weights[row, column]) for row in rows for column in columns) / len(rows)

    for layer, head, change, *alone in changes.heads:
        differences = [
            abs(weight(1, layer, head, q2, k2) - weight(0, layer, head, q1, k1))
            for q1, q2 in changes.pairs
            for k1, k2 in changes.pairs
        ]
        assert change == pytest.approx(sum(differences) / len(differences), abs=2 / LEVELS)
        for text, share in enumerate(alone):
            paired = [pair[text] for pair in changes.pairs]
            others = set(range(len(words[text]))) - set(paired)
            sums = [sum(weight(text, layer, head, query, key) for key in others) for query in paired]
            assert share == pytest.approx(sum(sums) / len(sums), abs=5 / LEVELS)
    assert len(changes.heads) == 12


def test_equal_texts_differ_nowhere(session: ViewSession) -> None:
    changes = changes_of(session, ACTIVE, ACTIVE)
    assert all(numbers == (0, 0, 0) for _, _, *rest in changes.heads for numbers in [tuple(rest)])
    first, second = changes.overviews
    assert np.array_equal(first[1], second[1]) and first[1].any()


def test_a_head_that_alone_looks_at_the_word_before_changes_most() -> None:
    """A head of the word before changes with the order of words, a head of the word itself does not."""

    def maps(sentence: str) -> TextMaps:
        text = text_tokens(tiny_tokenizer(), 64, sentence)
        same = np.eye(len(text))
        heads = [quantised(np.roll(same, -1, 1) if planted else same) for planted in (False, False, True, False)]
        return TextMaps(
            text,
            (2, 2),
            *(
                np.stack([getattr(head, name) for head in heads]).reshape(2, 2, *getattr(heads[0], name).shape)
                for name in ("maximum", "levels")
            ),
        )

    changes = text_changes(maps("the cat saw a dog"), maps("a dog saw the cat"))
    most = sorted(changes.heads, key=lambda head: -head.change)
    assert most[0][:2] == (2, 1) and most[0].change > 0 == most[1].change
    assert changes.overviews[0][1].shape == (2, 2, 7, 7)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ((ACTIVE, None, " "), "the second text is empty; write a sentence"),
        ((ACTIVE, None, "It ran off"), "have no word in common; write a text that differs in a few words"),
        ((ACTIVE, None, "dog " * 80), "the second text is too long to compare; write at most 64 tokens"),
        ((ACTIVE, "It ran.", PASSIVE), "a pair is not compared with another text; leave out the second sentence"),
    ],
)
def test_texts_that_cannot_be_compared_are_refused(session: ViewSession, texts: Any, words: str) -> None:
    with pytest.raises(HeadscopeError, match=words):
        session.text(*texts)


def test_two_texts_are_for_one_model() -> None:
    with pytest.raises(HeadscopeError, match="leave out the second model, or the other text"):
        session_of(seeds=(0, 1)).text(ACTIVE, None, PASSIVE)


def test_a_list_of_two_texts_is_compared_in_python(tmp_path: Path, session: ViewSession) -> None:
    model = session.models[0]
    page = headscope.show(model, ACTIVE, against=PASSIVE, corpus=None, static=True)._repr_html_()
    assert comparing("").replace("&", "&amp;amp;") in page
    path = export_page(tmp_path / "view.html", model, [ACTIVE, PASSIVE], state={"heads": ["2-3"]})
    assert comparing("h=2-3").replace("&", "&amp;") in path.read_text("utf-8")
    with pytest.raises(HeadscopeError, match="a list of two to compare"):
        headscope.show(model, [ACTIVE])


@pytest.mark.parametrize("view", ["lines", "map", "compare", "card", "try", "importance", "heads"])
def test_every_view_of_the_second_text_is_a_picture(session: ViewSession, view: str) -> None:
    text = session.text(ACTIVE, None, PASSIVE)["id"]
    assert exported(session, text, f"v={view}&m=1&h=2-3", "svg").content.startswith(b"<svg")


def test_an_offline_page_has_what_the_server_answers(session: ViewSession) -> None:
    text = session.text(ACTIVE, None, PASSIVE)["id"]
    data = embedded(session, text, parse_state(comparing("")))
    client = TestClient(application(session), base_url="http://127.0.0.1:8000")
    paths = [path for path in data["bytes"] if "/overview/" in path]
    assert len(paths) == 4
    answer = client.post("/api/text", json={"first": ACTIVE, "second": None, "against": PASSIVE}).json()
    assert answer["changes"] == [list(head) for head in changes_of(session, ACTIVE, PASSIVE).heads]
    assert client.get(f"/{paths[-1]}").content != client.get(f"/{paths[-2]}").content


def test_the_page_compares_what_is_typed_and_names_the_heads_that_change(
    browser: Chrome, address: str, served_session: ViewSession
) -> None:
    opened(browser, address, {"t": ACTIVE, "h": "2-3"})
    assert "Compare" not in browser.find_element("css selector", ".tabs").text
    browser.find_element("css selector", OTHER).send_keys(EVIL, Keys.ENTER)
    settled(browser)
    assert all(field in state(browser) for field in comparing("").split("&"))
    heads = sorted(changes_of(served_session, ACTIVE, EVIL).heads, key=lambda head: -head.change)
    line = browser.find_element("css selector", ".changes").text
    assert f"second: {heads[0].layer}-{heads[0].head} ({heads[0].change:.3f})" in line and "Only in" in line
    cells = browser.find_elements("css selector", ".grid-cell")
    assert [cell.get_attribute("data-head") for cell in cells] == [f"{head.layer}-{head.head}" for head in heads]
    captions = [caption.text for caption in browser.find_elements("css selector", ".compare-maps figcaption")]
    assert captions == ["first text", "second text", "second minus first"]
    assert browser.find_elements("css selector", "img") == [] and browser.title != "1"
    opened(browser, address, {"t": ACTIVE, "ta": PASSIVE, "v": "compare", "h": "2-3", "p": "q5k3"})
    changes = changes_of(served_session, ACTIVE, PASSIVE)
    one = changes.first.between_words(2, 3).attention[5, 3]
    two = changes.second.between_words(2, 3).attention[dict(changes.pairs)[5], dict(changes.pairs)[3]]
    readout = browser.find_element("css selector", ".compare-view .readout")
    said = f"“the” → “man”: {one:.2f} in first text, {two:.2f} in second text, difference {two - one:+.2f}."
    assert readout.text == said
    browser.execute_script("document.querySelector('.facts').open = true")
    settled(browser)
    titles = [title.text for title in browser.find_elements("css selector", ".facts thead th")]
    assert titles == ["attends", "head 2-3 in first text, to", "head 2-3 in second text, to"]
    shape(browser, 420)
    settled(browser)
    widths = [figure.size["width"] for figure in browser.find_elements("css selector", ".compare-maps figure")]
    assert len(widths) == 3 and min(widths) > 350, "one map a row, whose labels are whole"
    shape(browser, 1280)
    shared_map = picture(browser)
    browser.find_element("css selector", "[data-value=map]").click()
    settled(browser)
    first = picture(browser)
    browser.find_element("css selector", "[data-field=model] option:nth-child(2)").click()
    assert len({shared_map, first, picture(browser)}) == 3 and "m=1" in state(browser)
    browser.find_element("css selector", OTHER).clear()
    browser.find_element("css selector", OTHER).send_keys(Keys.ENTER)
    settled(browser)
    assert "ta=" not in state(browser) and not browser.find_element("css selector", ".changes").is_displayed()
    assert browser.get_log("browser") == []
