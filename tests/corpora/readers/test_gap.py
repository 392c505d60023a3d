"""GAP: a pronoun and two names, found by their characters."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.corpora.parsing.words import words
from headscope.errors import HeadscopeError
from support.written import corpus, question

HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
TEXT = 'Ann met Mary-Lou Ray, and "she" slept.'
GAP = Options(kind="gap")


def row(**changes: str) -> str:
    """A line of a file, in which the pronoun refers to the second name."""
    fields = {
        "ID": "made-1", "Text": TEXT, "Pronoun": "she", "Pronoun-offset": "27", "A": "Ann", "A-offset": "0",
        "A-coref": "FALSE", "B": "Mary-Lou Ray", "B-offset": "8", "B-coref": "TRUE", "URL": "none",
    }  # fmt: skip
    return "\t".join((fields | {name.replace("_", "-"): value for name, value in changes.items()}).values())


def read_gap(*rows: str, options: Options = GAP, header: str = HEADER):
    return corpus("gap.tsv", "\n".join([header, *rows]) + "\n", options)


def test_a_passage_asks_whom_its_pronoun_refers_to() -> None:
    (example,) = read_gap(row())
    (sentence,) = example.first
    assert example.id == "made-1" and sentence.text == TEXT
    assert sentence.forms == ("Ann", "met", "Mary-Lou", "Ray", ",", "and", '"', "she", '"', "slept", ".")
    asked = question(example)
    assert (asked.pronoun, asked.candidates, asked.answer) == ((7, 8), ((0, 1), (2, 4)), 1)
    assert (asked.stereotype, asked.pair) == ("", "")


def test_a_pronoun_may_refer_to_either_name_or_to_neither() -> None:
    found = read_gap(row(A_coref="TRUE", B_coref="FALSE"), row(ID="made-2", B_coref="FALSE"))
    assert [question(example).answer for example in found] == [0, None]


def test_a_name_that_ends_within_a_word_ends_a_word() -> None:
    (example,) = read_gap(row(B="Mary", B_offset="8"))
    assert example.first[0].forms[2:5] == ("Mary", "-", "Lou")
    assert question(example).candidates[1] == (2, 3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"B_offset": "9"}, "line 2: B is 'Mary-Lou Ray', but at its offset 9 stands 'ary-Lou Ray,'"),
        ({"A_offset": "-1"}, "line 2: A-offset '-1' is not a whole number"),
        ({"Pronoun_offset": "36"}, "line 2: Pronoun-offset '36' of 'she' is not in the text"),
        ({"A_offset": "x"}, "line 2: A-offset 'x'"),
        ({"A_coref": "yes"}, "line 2: A-coref is 'yes', expected TRUE or FALSE"),
        ({"A_coref": "TRUE"}, "line 2: A-coref and B-coref are both TRUE"),
        ({"A": '"', "A_offset": "26"}, None),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line_or_counted(changes: dict[str, str], said: str | None) -> None:
    if said is None:
        assert read_gap(row(**changes)).n_examples == 1
        return
    with pytest.raises(HeadscopeError, match=said.replace("(", "[(]").replace("?", "[?]")):
        read_gap(row(**changes))
    kept = read_gap(row(**changes), row(ID="made-2"), options=Options(kind="gap", skip_bad=True))
    assert [example.id for example in kept] == ["made-2"] and kept.skipped == {"bad": 1}


def test_a_row_of_too_few_columns_and_a_missing_column_are_refused() -> None:
    with pytest.raises(HeadscopeError, match="line 2: 3 columns, expected 11"):
        read_gap("a\tb\tc")
    with pytest.raises(HeadscopeError, match="no column 'B-coref'; GAP has them all"):
        read_gap(row(), header=HEADER.replace("B-coref", "B-answer"))


@example(text="a \xad", cuts=[])  # a soft hyphen after a blank
@given(text=st.text(max_size=40), cuts=st.lists(st.integers(0, 40), max_size=4))
def test_words_are_whole_in_order_and_leave_out_blanks_only(text: str, cuts: list[int]) -> None:
    ends = [min(cut, len(text)) for cut in cuts]
    found = words(text, [(end, end) for end in ends])
    assert all(start < end for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert not [end for end in ends for first, last in found if first < end < last]
    assert "".join(text[start:end] for start, end in found) == "".join(text.split())


@pytest.mark.parametrize(("name", "rows", "neither"), [("validation", 454, 62), ("development", 2000, 201)])
def test_the_real_files_are_read_whole(real_data: Path, name: str, rows: int, neither: int) -> None:
    found = read(real_data / "coref" / "gap" / f"gap-{name}.tsv.gz", GAP)
    assert (found.n_examples, found.skipped) == (rows, {})
    assert sum(question(example).answer is None for example in found) == neither
