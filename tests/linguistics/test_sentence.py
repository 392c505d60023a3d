"""The text of several sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.linguistics.sentence import Sentence, segment_text, starts_of

TEXTS = st.lists(st.text('ab .。雨」"', min_size=1, max_size=4).map(Sentence))


@given(TEXTS)
def test_each_sentence_begins_where_it_is_said_to(sentences: list[Sentence]) -> None:
    text = segment_text(sentences)
    for sentence, start in zip(sentences, starts_of(sentences), strict=True):
        assert text[start : start + len(sentence.text)] == sentence.text


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (("It rained.", "We stayed."), "It rained. We stayed."),
        (("雨が降った。", "寝た。"), "雨が降った。寝た。"),
        (("他说：“下雨了。”", "我睡了。"), "他说：“下雨了。”我睡了。"),
        (("비가 왔다.", "잤다."), "비가 왔다. 잤다."),
        (("नमस्ते।", "हाँ।"), "नमस्ते। हाँ।"),
        ((), ""),
    ],
)
def test_sentences_in_chinese_and_japanese_follow_without_a_blank(texts: tuple[str, ...], joined: str) -> None:
    assert segment_text([Sentence(text) for text in texts]) == joined
