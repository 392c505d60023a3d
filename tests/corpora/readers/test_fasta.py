"""Sequences of letters."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from headscope import HeadscopeError, read
from headscope.corpora import Options
from support.written import corpus

GOOD = "\n>one human\r\nQvQ\r\n\r\nL-V*\n>empty\n>\nAC U\n"


def test_each_record_is_a_sequence_of_letters_and_what_is_changed_is_counted():
    found = corpus("x.fasta", GOOD)
    first, second = (example.first[0] for example in found)
    assert (first.text, first.document, first.forms) == ("Q V Q L V", "one", tuple("QVQLV"))
    assert (second.text, second.document) == ("A C U", "x.fasta:7")
    counts = {"small letters, read as capitals": 1, "gaps": 1, "stops (*)": 1, "headers without a sequence": 1}
    counts["letters that are none of the 20 amino acids, read as they are"] = 1
    assert found.skipped == counts


def test_lines_without_headers_are_sequences(tmp_path):
    (tmp_path / "x.faa.gz").write_bytes(gzip.compress(b"QVQ\n\nLV\n"))
    assert [example.first[0].text for example in read(tmp_path / "x.faa.gz")] == ["Q V Q", "L V"]


def with_letters(split: bool) -> Options:
    """How to read a sequence for a tokenizer whose pieces are amino acids, which may divide words into them."""
    tokenizer = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate("?QVL")}, "?"))
    divide = pre_tokenizers.Split("", "isolated") if split else pre_tokenizers.WhitespaceSplit()
    tokenizer.pre_tokenizer = divide  # type: ignore[assignment]
    return Options(offsets=lambda text: tokenizer.encode(text).offsets)


@pytest.mark.parametrize(("split", "text"), [(True, "QVQ"), (False, "Q V Q")])
def test_letters_stand_apart_where_the_tokenizer_does_not_divide_them(split, text):
    (example,) = corpus("x.fasta", ">a\nQVQ\n", with_letters(split))
    assert (example.first[0].text, example.first[0].forms) == (text, tuple("QVQ"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (">a\nQV7\n", "line 1: '7' in its sequence is no letter"),
        (">a\nQ\n>b\n\u00c4\n", "line 3: '\u00c4' in its sequence is no letter"),
        ("QV\n>b\nQ\n", "line 2: a header after sequences without one"),
    ],
)
def test_an_error_names_the_line_and_can_be_left_out(content, problem):
    with pytest.raises(HeadscopeError, match=re.escape(problem)):
        corpus("x.fasta", content)
    assert corpus("x.fasta", f"{content}>c\nLLL\n", Options(skip_bad=True)).skipped["bad"] == 1


@pytest.mark.parametrize("program", ["W (1.83) multiple sequence", "O(1.2.4) multiple sequence", "format"])
def test_an_alignment_of_clustal_is_no_list_of_sequences(program):
    content = f"CLUSTAL {program} alignment\n\n\nabc  QVQL-V\ndef  QVQLLV\n     **** *\n"
    with pytest.raises(HeadscopeError, match="Clustal's format, no FASTA; write it as FASTA"):
        corpus("x.fasta", content, Options(skip_bad=True))


@given(st.lists(st.text("ACDXY", min_size=1, max_size=9), min_size=1, max_size=5), st.integers(1, 4))
def test_lines_of_any_width_are_one_sequence_read_from_any_on(tmp_path_factory, sequences, width):
    rows = [[f">{number}", *re.findall(f".{{1,{width}}}", row)] for number, row in enumerate(sequences)]
    path = tmp_path_factory.mktemp("fasta") / "x.fa"
    path.write_text("\n".join(line for row in rows for line in row))
    found = read(path)
    assert ["".join(example.first[0].forms) for example in found] == sequences
    for number in range(len(sequences)):
        assert [example.document for example in found.since(number)] == [*map(str, range(number, len(sequences)))]
