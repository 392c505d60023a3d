"""Pairs of paragraphs of running text."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.corpora.readers.paragraphs import fit, shorten
from headscope.errors import HeadscopeError
from support.written import DEFAULTS, texts

WIKITEXT = """
 = First article =

 a b c d

 e f g

 = = Section = =

 h i

 j k

 l = m

 = Second article =

 n o
 p q
"""


def letters(text):
    """Every character but a blank is a piece."""
    return [(at, at + 1) for at, character in enumerate(text) if not character.isspace()]


def paragraphs(tmp_path, text, options=DEFAULTS):
    path = tmp_path / "wiki.raw"
    path.write_text(text)
    return read(f"paragraphs:{path}", options, offsets=letters)


def test_pairs_do_not_overlap_and_do_not_cross_a_title(tmp_path):
    found = paragraphs(tmp_path, WIKITEXT)
    assert texts(found) == [["a b c d", "e f g"], ["h i", "j k"], ["n o", "p q"]]
    assert [example.id for example in found] == ["wiki.raw:4", "wiki.raw:10", "wiki.raw:18"]
    assert found.skipped == {"paragraph without a second": 1}


def test_pairs_cross_the_heading_of_a_section(tmp_path):
    found = paragraphs(tmp_path, "a b\n\n = = Section = =\n\nc d\n")
    assert texts(found) == [["a b", "c d"]]


def test_the_longer_paragraph_is_cut_and_the_cut_is_counted(tmp_path):
    found = paragraphs(tmp_path, "a b c d e f\n\ng h\n", Options(segment=8))
    assert texts(found) == [["a b c", "g h"]]
    assert found.skipped == {"words cut": 3}


def test_a_paragraph_of_which_no_word_fits_is_left_out(tmp_path):
    found = paragraphs(tmp_path, "abcdefghij\nk\n\nl\nm\n", Options(segment=6))
    assert texts(found) == [["l", "m"]]
    assert found.skipped == {"words cut": 1, "empty": 1}


def test_paragraphs_need_a_tokenizer(tmp_path):
    (tmp_path / "x.txt").write_text("a\nb\n")
    with pytest.raises(
        HeadscopeError, match=r"x.txt': paragraphs are cut by tokens; give read\(\) the offsets of a tok"
    ):
        read(tmp_path / "x.txt", Options(kind="paragraphs"))


def test_a_segment_must_have_room_for_two(tmp_path):
    with pytest.raises(HeadscopeError, match="a segment of 4 tokens is too short; use at least 5"):
        paragraphs(tmp_path, "a\nb\n", Options(segment=4))


@pytest.mark.parametrize(
    ("first", "second", "room", "expected"),
    [
        ("a b", "c d", 4, ("a b", "c d")),
        ("a b c d e f", "g", 4, ("a b c", "g")),
        ("g", "a b c d e f", 4, ("g", "a b c")),
        ("a b c d", "e f g h", 5, ("a b c", "e f")),
        ("aa bb", "cc dd", 6, ("aa", "cc dd")),
    ],
)
def test_fit(first, second, room, expected):
    assert fit(first, second, room, letters) == expected


def test_pieces_that_share_characters_are_counted_each():
    def twice(text):
        return [span for span in letters(text) for _ in range(2)]

    assert shorten("a b c", 4, twice) == "a b"
    assert shorten("a b c", 5, twice) == "a b"
    assert shorten("a", 1, twice) == ""


WORDS = st.lists(st.text("abé", min_size=1, max_size=5), min_size=1, max_size=30).map(" ".join)


@given(WORDS, WORDS, st.integers(2, 60))
def test_a_fitted_pair_has_room_and_begins_as_it_was(first, second, room):
    fitted = fit(first, second, room, letters)
    assert sum(len(letters(text)) for text in fitted) <= room
    for before, after in zip((first, second), fitted, strict=True):
        assert after == before or f"{before} ".startswith(f"{after} ") or not after
    sizes = [len(letters(text)) for text in (first, second)]
    if sum(sizes) <= room:
        assert fitted == (first, second)
    if sizes[0] <= room // 2:
        assert fitted[0] == first


def test_paragraphs_of_real_text(real_data):
    path = real_data / "wikitext" / "wiki.test.raw.gz"
    found = read(path, Options(kind="paragraphs", segment=128), offsets=letters)
    written = gzip.decompress(path.read_bytes()).decode().split("\n")
    n_paragraphs = sum(bool(line.strip()) and not (line[:3] == " = " == line[-3:]) for line in written)
    assert 2 * found.n_examples + found.skipped["paragraph without a second"] == n_paragraphs
    sizes = [sum(len(letters(segment[0].text)) for segment in example.segments) for example in found]
    assert max(sizes) <= 125
    assert sum(size > 110 for size in sizes) > len(sizes) / 2
