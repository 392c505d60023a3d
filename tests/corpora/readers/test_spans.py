"""Labelled spans of one's own, a span or a pair a line."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence
from support.written import corpus

SPANS = Options(kind="spans")
BLANKS = " \u200b"  # a blank without width parts words, and is in none
GOOD = {"text": "He didn't sleep.", "span": [0, 2], "label": "sleeper"}
PAIR = GOOD | {"other_span": [10, 15]}


def jsonl(*records: object) -> str:
    return "\n".join(map(json.dumps, records))


def labelled(*records: object) -> list[tuple[LabelledSpan, ...]]:
    return [example.first[0].labelled for example in corpus("my.jsonl", jsonl(*records), SPANS)]


def test_a_span_of_characters_is_one_of_words() -> None:
    words = ((0, 2), (3, 9), (10, 15), (15, 16))
    spans = (LabelledSpan(((0, 1), (2, 3)), ("sleeper",)),)
    assert list(corpus("my.jsonl", jsonl(PAIR), SPANS)) == [
        Example("my.jsonl:1", (Sentence("He didn't sleep.", words, document="He didn't sleep.", labelled=spans),))
    ]


def test_a_word_is_cut_where_a_span_ends() -> None:
    (example,) = corpus("my.jsonl", jsonl(GOOD | {"span": [3, 6]}), SPANS)
    assert example.first[0].forms == ("He", "did", "n't", "sleep", ".")
    assert example.first[0].labelled == (LabelledSpan(((1, 2),), ("sleeper",)),)


def test_lines_of_one_text_are_read_once_and_share_its_words() -> None:
    (spans,) = labelled(GOOD, GOOD | {"span": [10, 16], "label": ["verb", 2]}, GOOD | {"span": [3, 9], "group": "x"})
    assert [(span.spans, span.labels, span.group) for span in spans] == [
        (((0, 1),), ("sleeper",), ""), (((2, 4),), ("verb", "2"), ""), (((1, 2),), ("sleeper",), "x"),
    ]  # fmt: skip


def test_a_text_that_comes_again_is_of_the_same_document() -> None:
    found = corpus("my.jsonl", jsonl(GOOD, GOOD | {"text": "He slept."}, GOOD | {"span": [3, 9]}), SPANS)
    assert len(found) == 3 and found.n_documents == 2
    assert corpus("my.jsonl", jsonl(GOOD | {"document": "a"}, GOOD | {"document": "b"}), SPANS).n_documents == 2


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (GOOD | {"span": [14, 17]}, "'span' [14, 17] is not in the text of 16 characters"),
        (GOOD | {"span": [3, 3]}, "'span' [3, 3] is empty; its end is the character after the last one"),
        (GOOD | {"span": [9, 3]}, "'span' [9, 3] ends before it starts"),
        (GOOD | {"span": [2, 3]}, "'span' [2, 3] is ' ', which has no word; move it"),
        (GOOD | {"span": [-1, 3]}, "'span' is [-1, 3], expected two characters [start, end), counted from 0"),
        (GOOD | {"span": [0, 1, 2]}, "'span' is [0, 1, 2], expected two characters"),
        (GOOD | {"span": [0, 1.5]}, "'span' is [0, 1.5], expected two characters"),
        (GOOD | {"span": ["0", "1"]}, "'span' is [0, 1], expected two characters"),
        (GOOD | {"span": 3}, "'span' is '3', expected a list"),
        (PAIR, "the line has two spans, but line 1 has one span; give all lines 'other_span', or none"),
        (GOOD | {"label": True}, "'label' has 'True', expected a text, a number, or a list of them"),
        (GOOD | {"label": [""]}, "'label' has '', expected a text"),
        (GOOD | {"label": ["a", "a"]}, "'label' has 'a' twice; name each label once"),
        (GOOD | {"label": None}, "no 'label'"),
        (GOOD | {"labels": 1}, "unknown field 'labels'; there are: text, span"),
        (GOOD, "these spans are those of line 1; put several labels of one span into a list"),
        ({"text": "a", "label": "b"}, "no 'span'"),
        ([GOOD], "not an object"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line_or_counted(record: object, said: str) -> None:
    content = f"{jsonl(GOOD)}\n{jsonl(record)}"
    with pytest.raises(HeadscopeError) as error:
        corpus("my.jsonl", content, SPANS)
    assert f"my.jsonl', line 2: {said}" in str(error.value) and "\n" not in str(error.value)
    kept = corpus("my.jsonl", content, Options(kind="spans", skip_bad=True))
    assert len(kept) == 1 and kept.skipped == {"bad": 1}


def test_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "my.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(GOOD, "").replace('""', "").encode()))
    assert len(read(path, SPANS)) == 1


@given(
    text=st.text(st.sampled_from("ab c'-.é日\u200b"), max_size=12),
    start=st.integers(0, 13),
    length=st.integers(-1, 13),
    label=st.one_of(st.text("xy", max_size=2), st.lists(st.text("xy", min_size=1, max_size=1), max_size=2)),
)
def test_a_line_is_read_or_refused_and_its_words_are_those_of_its_characters(text, start, length, label) -> None:
    record = {"text": text, "span": [start, start + length], "label": label}
    labels = label if isinstance(label, list) else [label]
    good = (
        0 < length <= len(text) - start
        and text[start : start + length].strip(BLANKS)
        and len(set(labels)) == len(labels)
    )
    try:
        (example,) = corpus("my.jsonl", jsonl(record), SPANS)
    except HeadscopeError:
        assert not (good and all(labels))
        return
    assert good and all(labels)
    (sentence,) = example.first
    (span,) = sentence.labelled
    first, last = span.spans[0]
    inside = [letter for one, other in sentence.words[first:last] for letter in text[one:other]]
    assert inside == [letter for letter in text[start : start + length] if letter not in BLANKS]
    assert list(span.labels) == labels
