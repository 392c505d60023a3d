"""Words of many scripts: a combining sign belongs to its letter, and scripts without blanks have words, too."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora.parsing.words import words
from headscope.encoding.word_tokens import copies, with_words
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.training.finetune.baselines import words_of
from headscope.viewer.text_tokens import text_tokens
from support.tiny import byte_tokenizer

BETWEEN_BLANKS = {
    "Hindi": "हिन्दी में यह किताब है",
    "Bengali": "বাংলা ভাষা",
    "Tamil": "தமிழ் மொழி நல்லது",
    "Telugu": "తెలుగు భాష",
    "Arabic with vowels": "كَتَبَ الوَلَدُ",
    "Persian": "می‌خواهم بروم",
    "Hebrew with points": "שָׁלוֹם עוֹלָם",
    "Yoruba": "ọ̀rọ̀ wa",
    "decomposed French": unicodedata.normalize("NFD", "été naïf"),
    "decomposed Vietnamese": unicodedata.normalize("NFD", "tiếng Việt"),
    "Korean": "한국어를 좋아해요",
    "Burmese": "မြန်မာ ဘာသာ",
    "beyond 16 bits": "𝒳𝒴 a𝒵",
}
WITHOUT_BLANKS = {
    "我喜欢猫。": ["我", "喜欢", "猫", "。"],
    "私は猫が好き": ["私", "は", "猫", "が", "好き"],
    "ภาษาไทยดี": ["ภาษา", "ไทย", "ดี"],
    "ພາສາລາວ": ["ພາສາ", "ລາວ"],
}
ENGLISH = {
    "Ann's cat-flap isn't 90's.": ["Ann's", "cat-flap", "isn't", "90's", "."],
    "3.5% of 1,000 (a_b)!": ["3.5", "%", "of", "1,000", "(", "a_b", ")", "!"],
    "a--b -c d- 'e' f -g": ["a", "-", "-", "b", "-", "c", "d", "-", "'", "e", "'", "f", "-", "g"],
    "l’homme\u200bbe\ufeff \ud800x 👩‍👧 👍🏽!": ["l’homme", "be", "\ud800", "x", "👩‍👧", "👍🏽", "!"],
}


def spelt(text: str) -> list[str]:
    return [text[start:end] for start, end in words(text)]


@pytest.mark.parametrize("language", BETWEEN_BLANKS)
def test_words_between_blanks_are_whole_everywhere(language: str) -> None:
    text = BETWEEN_BLANKS[language]
    assert spelt(text) == text.split()
    viewed = text_tokens(byte_tokenizer(), 512, text)
    assert [word.text for word in viewed.words if word.span] == text.split()
    assert words_of((text,)) == [f"1 {word}" for word in text.lower().split()]


@pytest.mark.parametrize("text", [*WITHOUT_BLANKS, *ENGLISH])
def test_words_and_signs(text: str) -> None:
    assert spelt(text) == (WITHOUT_BLANKS | ENGLISH)[text]


def test_no_word_goes_across_a_span() -> None:
    text = "我喜欢Ann's猫"
    assert [text[start:end] for start, end in words(text, [(2, 6)])] == ["我", "喜", "欢", "Ann", "'", "s", "猫"]


def test_signs_of_different_words_are_no_copies() -> None:
    """Words that share vowel signs alone have no copy; by letters and digits apart these pairs had five."""
    pairs = [("किताब है", "हिन्दी में"), ("নদী", "মাটি"), ("我喜欢猫", "他喜欢狗")]
    found = [list(copies(with_words(Example("1", (Sentence(first),), (Sentence(second),))))) for first, second in pairs]
    assert found == [[], [], [(1, 4)]]


@given(st.text(), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=2))
def test_words_are_in_order_and_all_that_is_seen_is_in_one(text: str, spans: list[tuple[int, int]]) -> None:
    found = words(text, spans)
    assert all(start < end for start, end in found) and np.all(np.diff(np.array(found).ravel()) >= 0)
    covered = {index for start, end in found for index in range(start, end)}
    outside = "".join(letter for index, letter in enumerate(text) if index not in covered)
    assert not outside.replace("\u200b", "").replace("\ufeff", "").strip()
    for end in {end for span in spans for end in span}:
        assert not any(start < end < stop for start, stop in found)
