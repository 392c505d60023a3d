"""Tables in four formats."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from support.written import corpus, parquet, texts

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n"), min_size=1).filter(str.strip)


def rows(found):
    return [(*(segment[0].text for segment in example.segments), example.label) for example in found]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("sentence", ("a", None)),
        ("index,text,label", ("b", "c")),
        ("ID,Text,Pronoun", ("b", None)),
        ("sentence1,sentence2,gold_label", ("a", "b", "c")),
        ("gold_label,premise,hypothesis", ("b", "c", "a")),
        ("index,question,sentence,label", ("b", "c", "d")),
        ("id,question1,question2,is_duplicate", ("b", "c", "d")),
        ("Quality,#1 ID,#2 ID,#1 String,#2 String", ("d", "e", "a")),
        ("sentence2,sentence1,score", ("b", "a", "c")),
    ],
)
def test_columns_are_guessed_from_the_header(header, expected):
    width = header.count(",") + 1
    found = corpus("x.csv", f"{header}\n{','.join('abcdefgh'[:width])}\n")
    assert rows(found) == [expected]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("good", ("g", None)),
        ("good,bad", ("g", "b", None)),
        ("bad, good ,kind", ("b", "g", "k")),
        ("bad,,kind", ("b", "k")),
    ],
)
def test_columns_are_named(columns, expected):
    assert rows(corpus("x.tsv", "kind\tgood\tbad\nk\tg\tb\n", Options(columns=columns))) == [expected]


def test_numbers_name_the_columns_of_a_table_without_header():
    found = corpus("x.tsv", "gj04\t1\t\tThe doll wriggled.\ngj04\t0\t*\tThe doll it.\n", Options(columns="4,,2"))
    assert rows(found) == [("The doll wriggled.", "1"), ("The doll it.", "0")]
    assert [example.id for example in found] == ["x.tsv:1", "x.tsv:2"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("god", r"no column 'god'; did you mean 'good'\? there are: kind, good, bad$"),
        ("good,,xyz", r"no column 'xyz'; there are: kind, good, bad$"),
        ("7", r"no column '7'; there are: 1, 2, 3$"),
        ("a,b,c,d", r"--columns 'a,b,c,d' is not FIRST,SECOND,LABEL; name 1 to 3 columns$"),
        (",good", r"--columns ',good' is not FIRST,SECOND,LABEL; name 1 to 3 columns$"),
        (None, r"no column is known to hold text; name them with --columns FIRST,SECOND,LABEL from: kind, good, bad$"),
    ],
)
def test_a_column_that_is_missing_is_an_error_with_the_columns(columns, message):
    with pytest.raises(HeadscopeError, match=message):
        corpus("x.tsv", "kind\tgood\tbad\nk\tg\tb\n", Options(columns=columns))


def test_quote_marks_of_tsv_are_text():
    found = corpus("x.tsv", 'sentence\tlabel\n"An open quote\t1\nIt "closed".\t0\n')
    assert rows(found) == [('"An open quote', "1"), ('It "closed".', "0")]


def test_quote_marks_of_csv_quote_and_lines_are_counted_as_in_the_file():
    content = 'sentence,label\n"One, ""two"" and\nthree.",1\nfour,2,3\n'
    found = corpus("x.csv", content, Options(skip_bad=True))
    assert rows(found) == [('One, "two" and\nthree.', "1")]
    with pytest.raises(HeadscopeError, match=r"x.csv', line 4: 3 columns, expected 2 \(sentence, label\); correct it"):
        corpus("x.csv", content)


@pytest.mark.parametrize("row", ['"open,1\n', '"a"b,1\n'])
def test_broken_quotes_of_csv_are_bad(row):
    with pytest.raises(HeadscopeError, match=r"x.csv', line 3: not CSV \(.*\); correct it"):
        corpus("x.csv", f"sentence,label\nfine,1\n{row}")


def test_reading_goes_on_after_a_broken_row_of_csv():
    found = corpus("x.csv", 'sentence,label\n"a"b,1\nfine,1\n', Options(skip_bad=True))
    assert rows(found) == [("fine", "1")]
    assert found.skipped == {"bad": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{sentence: 1}", r"line 2: not JSON \(.*\)"),
        ('["It rained."]', r"line 2: not an object {...}, which names its fields"),
        ("null x", r"line 2: not JSON \(Extra data at column 6\)"),
        ('{"text": "other"}', r"line 2: no column 'sentence'"),
        ('{"sentence": ["a"]}', r"line 2: column 'sentence' is list \['a'\], expected text"),
    ],
)
def test_bad_lines_of_jsonl(line, message):
    content = f'{{"sentence": "It rained."}}\n{line}\n'
    with pytest.raises(HeadscopeError, match=rf"x.jsonl', {message}; correct it"):
        corpus("x.jsonl", content)
    assert corpus("x.jsonl", content, Options(skip_bad=True)).skipped == {"bad": 1}


def test_labels_stay_as_written():
    content = "\n".join(json.dumps({"text": "a", "label": label}) for label in ("1", 5, 5.0, None, True))
    assert [example.label for example in corpus("x.jsonl", content)] == ["1", "5", "5.0", None, "True"]
    assert [example.label for example in corpus("x.tsv", "text\tscore\na\t5.000\n")] == ["5.000"]


def test_parquet_has_types():
    content = parquet(text=["a", "b", None], label=[1, 2, 3], score=[1.5, 2.0, None])
    assert rows(corpus("x.parquet", content)) == [("a", "1"), ("b", "2")]
    found = corpus("x.parquet.gz", content, Options(columns="text,,score"))
    assert rows(found) == [("a", 1.5), ("b", 2.0)]
    assert found.skipped == {"empty": 1}


def test_a_file_that_is_not_parquet_is_an_error():
    with pytest.raises(HeadscopeError, match=r"x.parquet' cannot be read as Parquet: .*; check the file$"):
        corpus("x.parquet", "text\nIt rained.\n")


@pytest.mark.parametrize("name", ["x.tsv", "x.csv"])
def test_blank_rows_are_empty(name):
    found = corpus(name, "sentence\n\nIt rained.\n\n")
    assert texts(found) == [["It rained."]]
    assert found.skipped == {"empty": 2}


@given(st.lists(st.tuples(LINE, LINE, LINE), min_size=1))
def test_what_is_written_as_tsv_is_read(table):
    found = corpus("x.tsv", "".join("\t".join(row) + "\n" for row in [("premise", "hypothesis", "label"), *table]))
    assert rows(found) == [(first.strip(), second.strip(), label) for first, second, label in table]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1))
def test_what_is_written_as_jsonl_is_read(table):
    found = corpus(
        "x.jsonl", "".join(json.dumps({"premise": a, "hypothesis": b, "label": c}) + "\n" for a, b, c in table)
    )
    assert rows(found) == [(first.strip(), second.strip(), label) for first, second, label in table]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1))
def test_what_is_written_as_csv_is_read(table):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("premise", "hypothesis", "label"), *table])
    expected = [[value.replace("\r\n", "\n") for value in row] for row in table]
    assert rows(corpus("x.csv", file.getvalue())) == [(a.strip(), b.strip(), label) for a, b, label in expected]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1))
def test_what_is_written_as_parquet_is_read(table):
    premise, hypothesis, label = map(list, zip(*table, strict=True))
    found = corpus("x.parquet", parquet(premise=premise, hypothesis=hypothesis, label=label))
    assert rows(found) == [(first.strip(), second.strip(), label) for first, second, label in table]


def test_the_tables_of_a_folder_are_one_corpus(tmp_path: Path):
    for name, text in (("b.parquet", "It rained."), ("a.parquet", "We stayed in."), ("notes.md", "")):
        (tmp_path / name).write_bytes(parquet(text=[text, f"{text} Again."]) if text else b"#")
    read_ = read(f"table:{tmp_path}")
    assert [example.id for example in read_] == ["a.parquet:1", "a.parquet:2", "b.parquet:1", "b.parquet:2"]
    assert read_.files and read(str(tmp_path), kind="table").sha256 == read_.sha256
    (tmp_path / "none").mkdir()
    with pytest.raises(
        HeadscopeError, match=r"none': no table in this folder; name one with .tsv, .csv, .jsonl, .parq"
    ):
        read(f"table:{tmp_path / 'none'}")
