"""Classes of frequency from a list of words: the file, the pieces of its words, and the numbers of the study."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headscope
from headscope import HeadscopeError, Settings
from headscope.encoding.frequencies import Frequencies
from headscope.linguistics.sentence import Example, Sentence
from headscope.studies.heads.profile.frequencies import frequency_variables, piece_frequencies, word_counts
from headscope.studies.heads.profile.study import run
from support.claim_texts import corpus
from support.planted import PIECES, looks_at_offset, planted
from support.tiny import tiny_tokenizer


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.tsv", "the\t60\n\ncat\t30.5\nthe\t2\n"),
        ("words.csv", 'word,count\nthe,62\n"cat",30.5\n'),
        ("words.txt.gz", "the\t62\r\ncat\t30.5\r\n"),
    ],
)
def test_a_list_has_two_columns(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert word_counts(path) == {"the": 62, "cat": 30.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the\t3\ncat\n", "line 2: 'cat' is no word with a count; a line has a word and its count"),
        ("the,3\n1,cat,5\n", "line 2"),
        ("the\t3\n\t5\n", "line 2"),
        ("the\t3\ncat\t-1\n", "line 2"),
        ("the\t3\ncat\tnan\n", "line 2"),
        ("word\tcount\n", "no word with a count above 0"),
        ("the\t0\n", "no word with a count above 0"),
        ("", "no word with a count above 0"),
    ],
)
def test_a_list_that_is_no_list_is_refused_by_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(text, encoding="utf-8")
    with pytest.raises(HeadscopeError, match=message):
        word_counts(tmp_path / "list")


@given(st.text(max_size=60))
def test_any_text_is_a_list_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("list") / "list"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        assert sum(word_counts(path).values()) > 0
    except HeadscopeError as error:
        assert str(path) in str(error)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted({(1, 1): looks_at_offset(1)}), tiny_tokenizer())


COUNTS = {"the": 50.0, "cat": 20.0, "was": 14.0, "old": 8.0, "garden": 5.0, "river": 3.0, ".": 900.0}
TEXTS = ["the cat was old .", "the old river , the garden .", "the cat saw the tree ."]


def naive_class(word: str) -> int:
    """The fifth of the list's tokens that the middle of those of a word lies in, the rarest first; -1 without one."""
    if word not in COUNTS or word in ".,":
        return -1
    below = sum(count for other, count in COUNTS.items() if other != "." and count < COUNTS[word])
    return int((below + COUNTS[word] / 2) / sum(count for other, count in COUNTS.items() if other != ".") * 5)


def test_classes_are_those_of_the_list_whatever_the_sample(model: headscope.Model, tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("".join(f"{word}\t{count}\n" for word, count in COUNTS.items()), encoding="utf-8")
    used = piece_frequencies(COUNTS, model, Frequencies(np.zeros(len(PIECES), dtype=int)))
    for word in (*COUNTS, "saw", "tree"):
        assert used.classes[used.counts[PIECES[word]]] == naive_class(word), word
    read = corpus([Example(str(at), (Sentence(text),)) for at, text in enumerate(TEXTS)])
    result = run(model, read, Settings(resamples=20), frequency_list=path)
    words = [word for text in TEXTS for word in text.split() if word not in ".,"]
    classes = [naive_class(word) for word in words]
    shares = np.bincount([number for number in classes if number >= 0], minlength=5) / sum(n >= 0 for n in classes)
    np.testing.assert_allclose(result["frequency_share"], shares)
    least = [min((COUNTS[word] for word in words if naive_class(word) == at), default=np.nan) for at in range(5)]
    in_list = [min((COUNTS[w] for w in COUNTS if naive_class(w) == at), default=np.nan) for at in range(5)]
    assert result["frequency_least"].values[shares > 0] == pytest.approx(np.array(in_list)[shares > 0])
    assert np.isnan(np.array(least)).tolist() == (shares == 0).tolist()
    lacking = sum(number < 0 for number in classes)
    assert json.loads(result.attrs["skipped"])["tokens whose piece the frequency list lacks, in no class"] == lacking
    assert result.attrs["frequency_list"] == "counts.tsv (7 words)"


def test_without_a_list_the_numbers_are_those_of_the_corpus() -> None:
    counts = Frequencies(np.array([0, 1, 1, 2, 4]))
    variables = frequency_variables(counts)
    assert variables["frequency_least"].values.tolist()[:2] == [1.0, 2.0]
    assert counts.tokens.tolist() == [0, 2, 2, 0, 4]
