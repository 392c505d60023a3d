"""Files that are broken, or were made to stop a reader: one line each, and no hang."""

import gzip
import io
import json
import os
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headscope.corpora import Options, drawing, read
from headscope.corpora.parsing import parquet as parquet_reader
from headscope.corpora.parsing.columns import check_header
from headscope.corpora.parsing.json_lines import first_repeated
from headscope.errors import HeadscopeError
from headscope.storage.limits import LONGEST_TEXT, MOST_COLUMNS
from support.written import corpus, parquet, texts

DIGITS = "9" * 5000
UNIT = '<lexUnit name="x.v" frame="F"/>'


def refused(name: str, content: str | bytes, message: str, **options) -> None:
    """Reading this file is an error of one line; where lines can be left out, leaving all of them out is one, too."""
    for skip_bad in (False, True):
        with pytest.raises(HeadscopeError, match=None if skip_bad else message) as error:
            corpus(name, content, Options(skip_bad=skip_bad, **options))
        assert len(str(error.value).splitlines()) == 1


def packed(table: pa.Table, **options) -> bytes:
    """A table as a file of Parquet."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def word(number: object, head: object, misc: str = "_") -> str:
    return f"{number}\tword\t_\tNOUN\t_\t_\t{head}\tdep\t_\t{misc}\n"


TWICE = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
LABELS = "\n".join(f"# pair = p\n# pair_label = {label}\n{word(1, 0)}" for label in ("yes", "no"))
REFUSED = [
    # NUL bytes, and lines that end in carriage returns
    ("x.txt", "It rained.\n".encode("utf-16-le"), "line 1: a NUL byte, as in UTF-16"),
    ("x.tsv", "text\tlabel\nIt\0 rained.\tno\n", "line 2: a NUL byte"),
    ("x.jsonl", '{"text": "It\\u0000 rained."}', "text '.*' has a NUL character"),
    ("x.parquet", parquet(text=["It\0 rained."]), "text '.*' has a NUL character"),
    ("x.txt", "It rained.\rWe stayed in.\r", "line 1: carriage returns are not line ends; save the file"),
    ("x.txt", "It rained.\nWe slept.\rWe stayed in.\r", "line 2: carriage returns are not line ends"),
    # labels and names that a result cannot hold
    ("x.tsv", f"text\tlabel\nIt rained.\t{'x' * 100_000}\n", "label 'x+...' has 100000 characters, at most 1000"),
    ("x.jsonl", '{"text": "a", "label": "\\ud800"}', "half of a character"),
    ("x.conllu", word(1, 0).replace("dep", "d" * 2000), "relation '.*' has 2000 characters"),
    # two columns of one name, two labels of a pair
    ("x.tsv", "text\ttext\na\tb\n", "two columns are named 'text'; rename one"),
    ("x.csv", "text,text\na,b\n", "two columns are named 'text'; rename one"),
    ("x.jsonl", '{"text": "a", "text": "b"}', "the field 'text' comes twice"),
    ("x.parquet", packed(TWICE), "two columns are named 'text'; rename one"),
    ("x.conllu", LABELS, "pair 'p' has the labels 'yes' and 'no', expected one"),
    # numbers that are none, are infinite, have thousands of digits, or stand for a text
    *(("x.jsonl", f'{{"text": "a", "label": {name}}}', f"{name} is not a number of JSON")
      for name in ("NaN", "Infinity", "-Infinity")),
    ("x.jsonl", '{"text": "a", "label": 1e999}', "the number 1e999 is infinite"),
    ("x.parquet", parquet(text=["It rained."], label=[float("inf")]), "the label inf is infinite"),
    *(("x.jsonl", f'{{"text": {number}}}', f"column 'text' is the number {number[:500]}")
      for number in ("5", "5.0", DIGITS)),
    *(("x.conllu", content, r"line \d: ")
      for content in (word(1, DIGITS), word(DIGITS, 0), word(f"{DIGITS}.1", "_"), word(f"1-{DIGITS}", "_"))),
    ("x.dp", f"Ann\tNNP\t{DIGITS}\n", "head '9+' is not in 0..1"),
    # trees without heads, encodings that are not known
    ("x.dp", "Ann\tNNP\t_\nslept\tVBD\t_\n", r"line 1: the words have no heads \('_'\), expected numbers from 0"),
    *(("lu1.xml", f'<?xml version="1.0" encoding="{encoding}"?>{UNIT}', "line 1: not XML")
      for encoding in ("utf-7", "cp037", "gb2312", "no-such")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED, ids=[message[:40] for *_, message in REFUSED])
def test_what_no_corpus_can_hold_is_refused(name: str, content: str | bytes, message: str) -> None:
    refused(name, content, message)


def test_names_and_places_of_links_are_checked_too() -> None:
    refused("x.jsonl", '{"text": "a", "links": [], "id": "\\u0000"}', "id '.*' has a NUL character", kind="links")
    refused("x.jsonl", '{"text": "a", "links": [{"source": [0], "target": 1e999}]}', "is infinite", kind="links")
    many = f'{{"text": "a b", "links": [{{"source": {DIGITS}, "target": 1}}]}}'
    refused("x.jsonl", many, "5000 digits", kind="links")


class Compared(str):
    """A name that counts how often a name is compared with another."""

    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def test_names_of_columns_are_compared_once_each():
    names = [Compared(number) for number in range(1000)]
    check_header(names, "x.tsv")
    assert first_repeated([*names, names[-1]]) == "999"
    assert Compared.times < 5_000


def test_columns_and_fields_have_a_bound():
    names = [f"c{number}" for number in range(MOST_COLUMNS)]
    header, last = "\t".join(["text", *names[1:]]), "\t" * (MOST_COLUMNS - 1)
    assert len(corpus("x.tsv", f"{header}\nIt rained.{last}\n")) == 1
    assert len(corpus("x.jsonl", json.dumps(dict.fromkeys(["text", *names[1:]], "It rained.")))) == 1
    refused("x.tsv", f"{header}\tmore\nIt rained.\t{last}\n", "10001 columns, at most 10000 are read; remove those")
    refused("x.jsonl", json.dumps(dict.fromkeys(["text", *names], 1)), "an object has 10001 fields, at most 10000 are")
    refused("x.jsonl", '{"text": "a", "links": {' + '"a": 1, ' * 40_000 + '"b": 1}}', "an object has 40001 fields")


def test_an_id_that_comes_twice_is_refused():
    refused_once = "\n".join(f"# sent_id = a\n{word(1, 0)}" for _ in range(2))
    with pytest.raises(HeadscopeError, match="example 'a': another example has this id"):
        corpus("x.conllu", refused_once)
    assert corpus("x.conllu", refused_once, Options(skip_bad=True)).skipped == {"bad": 1}


@pytest.mark.parametrize("share", ["nan", "inf", "-1", "101"])
def test_a_share_of_women_that_is_none_is_refused(tmp_path, share):
    (tmp_path / "all_sentences.tsv").write_text("sentid\tsentence\n")
    (tmp_path / "occupations-stats.tsv").write_text(f"occupation\tbls_pct_female\ncook\t{share}\n")
    with pytest.raises(HeadscopeError, match="line 2: no occupation with bls_pct_female from 0 to 100"):
        read(tmp_path, Options(kind="winogender"))


def test_nesting_has_an_end():
    for depth in (300, 5_000, 200_000):
        refused("lu1.xml", "<lexUnit>" * depth, "nested more than 200 levels")
        refused("x.jsonl", "[" * depth, "not JSON")
        refused("x.jsonl", '{"text": ' + "[" * depth + "]" * depth + "}", "not JSON|expected text")
    parse = [f"bn/a 0 {at} w NN {bit} - - - - * -" for at, bit in enumerate(["(S" * 2000 + "*", "*" + ")" * 2000])]
    content = "#begin document (a); part 000\n" + "\n".join(parse) + "\n#end document\n"
    refused("x.gold_conll", content, "line 2: the parse is nested more than 200 levels deep")


@pytest.mark.parametrize("name", ["x.txt.gz", "x.conllu.gz", "lu1.xml.gz"])
def test_a_packed_file_that_is_far_larger_than_it_looks_is_refused(name):
    refused(name, (" " * 100_000 + "\n") * 50, "unpacks to more than 100 times its size; unpack it first")


@pytest.mark.parametrize(
    ("name", "line", "options"),
    [
        ("x.txt", "{}\n", {}),
        ("x.tsv", "text\n{}\n", {}),
        ("x.jsonl", '{{"text": "{}"}}\n', {}),
        ("x.jsonl", '{{"text": "{}", "links": []}}\n', {"kind": "links"}),
        ("x.jsonl", '{{"sentence": "{}", "target": [0, 1], "elements": []}}\n', {"kind": "framenet"}),
    ],
)
def test_a_text_has_a_bound(name, line, options):
    longest = corpus(name, line.format("a " * (LONGEST_TEXT // 2 - 1) + "ab"), Options(**options))
    assert [len(text) for (text,) in texts(longest)] == [LONGEST_TEXT]
    refused(
        name,
        line.format("a " * (LONGEST_TEXT // 2) + "a"),
        "has 1000001 characters, at most 1000000 are read; break it into paragraphs",
        **options,
    )


@pytest.mark.parametrize(
    ("name", "begin", "row"),
    [
        ("x.dp", "", "Ann\tNNP\t0\n"),
        ("x.conll2000", "", "Ann NNP B-NP\n"),
        ("x.mrg", "(S\n", "(NN a)\n"),
        ("x.conllu", "", word(1, 0)),
        ("x.gold_conll", "#begin document (a);\n", "a 0 0 Ann NNP * - - - - * -\n"),
    ],
)
def test_a_sentence_without_end_is_refused(name, begin, row):
    refused(name, begin + row * (LONGEST_TEXT // 7), r"line \d: a sentence of more than 1000000 characters")


def test_reading_goes_on_behind_a_sentence_without_end():
    sentence = "Ann\tNNP\t0\n"
    content = f"{sentence * 200_000}\n{sentence}"
    assert corpus("x.dp", content, Options(skip_bad=True)).skipped == {"bad": 1}
    trees = "(S " + "(NN a) " * 300_000 + ") (S (NN a))"
    read_again = corpus("x.mrg", trees, Options(skip_bad=True))
    assert (len(read_again), read_again.skipped) == (1, {"bad": 1})


def test_other_numbers_of_thousands_of_digits_are_refused():
    span = f'<label name="Target" start="{DIGITS}" end="3"/>'
    layer = f'<annotationSet ID="1"><layer name="Target">{span}</layer></annotationSet>'
    refused("lu1.xml", f'<lexUnit name="x.v" frame="F"><sentence>{layer}</sentence></lexUnit>', "start '9+' is not a")
    columns = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    row = f"a\tAnn saw her.\ther\t{DIGITS}\tAnn\t0\tTRUE\tsaw\t4\tFALSE\tu"
    refused("x.tsv", f"{columns}\n{row}\n", "Pronoun-offset '9+' is not a whole number", kind="gap")


@pytest.mark.parametrize("spans", [5, "3", {}, [5], [[1, 2, 3]], [[True, 2]]])
def test_targets_that_are_no_spans_are_refused(spans):
    record = {"sentence": "He slept.", "frame": "F", "target_spans": spans, "elements": []}
    refused("x.jsonl", json.dumps(record), "target", kind="framenet")


def test_parquet_that_cannot_be_read_is_refused():
    good = parquet(text=["It rained."] * 10)
    for content in (good[: len(good) // 2], good[:-3], b"", b"PAR1", good[:4] + b"\0" * 40 + good[44:]):
        refused("x.parquet", content, "x.parquet' ")
    no_utf8 = pa.array([b"\xff\xfe"]).view(pa.string())
    refused("x.parquet", packed(pa.table({"text": no_utf8})), "cannot be read as Parquet")
    times = pa.array([datetime(2000, 1, 1)]).cast(pa.timestamp("s"))
    far = pa.array([2**60]).cast(pa.int64()).view(pa.timestamp("ms"))
    refused("x.parquet", parquet(text=times), "column 'text' is datetime")
    refused("x.parquet", parquet(text=["a"], label=far), "cannot be read as Parquet|column")


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each batch of rows that is unpacked."""
    sizes: list[int] = []

    class Recorded(pq.ParquetFile):
        def iter_batches(self, *arguments, **options):
            for batch in super().iter_batches(*arguments, **options):
                sizes.append(batch.nbytes)
                yield batch

    monkeypatch.setattr(pq, "ParquetFile", Recorded)
    return sizes


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}, {"data_page_size": 10}]
)
def test_parquet_of_rows_that_share_their_text_is_unpacked_a_little_at_a_time(options, batches, monkeypatch):
    monkeypatch.setattr(parquet_reader, "LARGEST_BATCH", 1 << 16)
    monkeypatch.setattr(parquet_reader, "SMALL_PAGE", 64)
    table = pa.table({"text": ["a" * 4000] * 1000, "unread": ["b" * 4000] * 1000})
    assert len(corpus("x.parquet", packed(table, **options))) == 1000
    assert len(batches) >= 1000 // 16 and max(batches) <= 1 << 16


def test_of_parquet_no_more_is_unpacked_than_is_drawn_from(batches, monkeypatch):
    """Once to draw from, and once to read."""
    monkeypatch.setattr(drawing, "FROM", 20)
    content = packed(pa.table({"text": ["It rained."] * 100}), row_group_size=10)
    assert len(corpus("x.parquet", content, Options(limit=1))) == 1
    assert len(batches) <= 2 * 3


def test_lists_and_structs_of_parquet_are_no_columns():
    columns = {"text": ["It rained."], "labels": [[1, 2]], "class": [{"name": "no"}]}
    (example,) = corpus("x.parquet", parquet(**columns))
    assert (example.label, example.sentences[0].text) == (None, "It rained.")
    refused("x.parquet", parquet(**columns), "no column 'labels'; did you mean|there are", columns="text,,labels")


def test_pages_of_parquet_with_a_damaged_header_are_refused():
    good = parquet(text=["It rained."])
    for damaged in (b"\x15\x00", b"\x15" + b"\xff" * 20, b"\x18\xff\xff\xff\x7f", b"\x1c" * 3000, b"\x00", b"\x19"):
        refused("x.parquet", b"PAR1" + damaged + good[4 + len(damaged) :], "cannot be read")


def test_a_footer_of_parquet_that_does_not_fit_its_columns_is_refused():
    """The levels that a column's size statistics count are those of its type; pyarrow aborts where they are not."""
    kinds = pa.schema([pa.field("text", pa.string()), pa.field("label", pa.int64())])
    good = packed(pa.table({"text": ["It rained."], "label": [1]}, kinds))
    optional, required = b"\x15\x04\x25\x02\x18\x05label", b"\x15\x04\x25\x00\x18\x05label"
    assert good.count(optional) == 1
    refused("x.parquet", good.replace(optional, required), "cannot be read|label")


@pytest.mark.parametrize("name", ["x.txt", "x.tsv", "x.conllu", "lu1.xml", "x.parquet", "x.dp", "x.txt.gz"])
def test_pipes_devices_folders_and_links_that_lead_nowhere_are_refused(tmp_path: Path, name: str):
    path = tmp_path / name
    make = [
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to(tmp_path / "nowhere"),
        lambda: path.symlink_to(path),
        lambda: path.mkdir(),
    ]
    for create in make:
        create()
        with pytest.raises(HeadscopeError, match=r"pipe|device|folder|leads nowhere"):
            read(path)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="there is no /proc")
def test_a_file_of_the_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "x.txt"
    path.symlink_to("/proc/self/status")
    with pytest.raises(HeadscopeError, match=r"x.txt' is a file of the system, without a size; name a copy of it"):
        read(path)

    def would_wait(*_: object) -> bytes:
        raise BlockingIOError

    monkeypatch.setattr(os, "read", would_wait)  # as /proc/kmsg
    with pytest.raises(HeadscopeError, match="is a file of the system"):
        read(path)


def test_other_input_files_that_are_pipes_are_refused(tmp_path: Path):
    from headscope.studies.heads.probe.word_vectors import read_vectors

    os.mkfifo(tmp_path / "vectors.txt")
    with pytest.raises(HeadscopeError, match=r"vectors '.*' is a named pipe; name a plain file"):
        read_vectors(str(tmp_path / "vectors.txt"), ["a"])


def test_packed_files_that_end_too_soon_are_refused():
    refused("x.parquet.gz", gzip.compress(b"a")[:4], "x.parquet.gz'")
