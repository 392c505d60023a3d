"""Tokens and words of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from headscope.errors import HeadscopeError
from headscope.viewer.text_tokens import MOST_LETTERS, text_tokens, word_pairs
from support.tiny import byte_tokenizer, tiny_tokenizer


@pytest.mark.parametrize("tokenizer", [tiny_tokenizer(), byte_tokenizer()], ids=["pieces", "bytes"])
@given(first=st.text(min_size=1), second=st.text(min_size=1) | st.none())
def test_words_cover_all_tokens_in_order(tokenizer: PreTrainedTokenizerBase, first: str, second: str | None) -> None:
    try:
        text = text_tokens(tokenizer, 40, first, second)
    except HeadscopeError as error:
        assert "\n" not in str(error)
        return
    assert [token for word in text.words for token in word.tokens] == list(range(len(text)))
    assert len(text.segment) == len(text.special) == len(text) <= 40
    for word in text.words:
        if word.span:
            segment, start, end = word.span
            assert word.text == (first, second)[segment][start:end]  # type: ignore[index]


def test_words_of_letters_with_an_apostrophe_and_of_chinese() -> None:
    text = text_tokens(tiny_tokenizer(), 64, "They weren't here, 3.5 km. 猫が好き")
    words = [word.text for word in text.words if word.span]
    assert words == ["They", "weren't", "here", ",", "3.5", "km", ".", "猫", "が", "好き"]


def test_a_masked_word_is_one_word() -> None:
    text = text_tokens(tiny_tokenizer(), 64, "The [MASK] sat.")
    assert [word.text for word in text.words] == ["[CLS]", "The", "[MASK]", "sat", ".", "[SEP]"]
    assert text.special == (True, False, False, False, False, True)


def test_tokens_of_bytes_are_readable() -> None:
    text = text_tokens(byte_tokenizer(), 64, "a é")
    assert text.tokens == ("a", "␣", "<0xC3>", "<0xA9>") and text.raw == ("a", "Ġ", "Ã", "©")


def test_an_unknown_token_keeps_the_characters_of_the_text() -> None:
    text = text_tokens(tiny_tokenizer(), 64, "The 鬱 sat.", "鬱陶")
    assert text.tokens[2] == "[UNK]" and text.raw[2] == "鬱" and text.raw[0] == "[CLS]"
    assert text.tokens[6:8] == ("[UNK]", "[UNK]") and text.raw[6:8] == ("鬱", "陶")
    assert not text.in_bytes


@pytest.mark.parametrize(("written", "expected"), [("ночь", True), ("猫が好き", True), ("a cat sat é", False)])
def test_a_text_in_bytes_is_known(written: str, expected: bool) -> None:
    assert text_tokens(byte_tokenizer(), 64, written).in_bytes is expected


def test_words_of_two_tokenizers_are_paired_by_their_place() -> None:
    one = text_tokens(tiny_tokenizer(), 64, "The café slept.", "It did.")
    other = text_tokens(byte_tokenizer(), 64, "The café slept.", "It did.")
    pairs = word_pairs(one, other)
    assert [one.words[first].text for first, _ in pairs] == ["The", "café", "slept", ".", "It", "did", "."]
    assert all(one.words[first].span == other.words[second].span for first, second in pairs)


def test_a_long_text_is_cut() -> None:
    text = text_tokens(tiny_tokenizer(), 20, "the cat sat " * 30, "the dog ran " * 3)
    assert text.cut and len(text) == 20
    assert not text_tokens(tiny_tokenizer(), 20, "the cat").cut


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("a" * (MOST_LETTERS + 1), "100,001 letters; write at most 100,000"),
        ("cat \ud800 sat", "half of a character at letter 5"),
    ],
)
def test_texts_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        text_tokens(tiny_tokenizer(), 64, text)
    with pytest.raises(HeadscopeError, match=message):
        text_tokens(tiny_tokenizer(), 64, "The cat.", text)
