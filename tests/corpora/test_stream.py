"""A corpus that is read from any of its examples on gives the examples that reading it from its start gives."""

import gzip
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.corpora.stream import MOST_MARKS, Stream
from headscope.errors import HeadscopeError
from support.tiers import paired

REST = "\t_" * 7
# Of each kind a file's name, its beginning, and pieces that may follow each other in any order; some are bad.
FILES: dict[str, tuple[str, str, list[str]]] = {
    "text": ("x.txt", "", ["One line.\n", " \n", "Zoë — slept.\r\n", "\n\n"]),
    "paragraphs": ("x.txt", "", [" = Title = \n", "a b c d e f\n", "g h\n", "\n", " = = Section = = \n"]),
    "table": ("x.tsv", "sentence\tlabel\n", ["A b.\t1\n", "one column\n", "\n", " \t0\n", "Zoë.\t2\n"]),
    "headless": ("x.tsv", "", ["A b.\t1\n", "Zoë.\t2\n"]),
    "csv": ("x.csv", "label,sentence\n", ['1,"Two\nlines."\n', '2,"a ""b"""\n', "3\n", '4,"a" b\n', "\n", "5,c\n"]),
    "jsonl": (
        "x.jsonl",
        '{"label": 1, "text": "a"}\n',
        ['{"text": "b", "label": 5.0}\n', "{\n", "\n", '{"label": 2}\n'],
    ),
    "links": ("x.jsonl", "", ['{"text": "a b", "links": []}\n', '{"text": "a b", "id": "x", "links": []}\n', "[]\n"]),
    "penn": ("x.dp", "", ["Cats\tNNS\t2\n", "sleep\tVBP\t0\n", "\n", "no row\n"]),
    "conll2000": ("x.conll2000", "", ["Cats NNS B-NP\n", "sleep VBP B-VP\n", "\n", "no\n"]),
    "conllu": (
        "x.conllu",
        "",
        [
            f"1\tCats{REST}\tEntity=(1-person)\n\n",
            f"1\tDogs{REST}\tEntity=(2-person)\n\n",
            f"# newdoc id = a\n# global.Entity = eid-etype\n1\tCats{REST}\tEntity=(1-person)\n\n",
            f"# newdoc\n1\tCats{REST}\t_\n\n",
            f"# pair = p\n1\tCats{REST}\t_\n\n",
            f"# global.Entity = etype-GRP\n# sent_id = s\n1\tCats{REST}\tEntity=(person-1)\n\n",
            "1\tCats\n\n",
        ],
    ),
    "conll2012": (
        "x.v4_gold_conll",
        "",
        [
            "#begin document (a); part 000\n",
            "#begin document (b); part 001\n",
            "#end document\n",
            "a 0 0 Ann NNP (TOP(NP*)) - - - - * (1)\n\n",
            "a 0 0 She PRP (TOP(NP*)) - - - - * (1)\n",
            "a 0 0 bad\n\n",
        ],
    ),
    "brackets": ("x.mrg", "", ["((NN cat))", "((NN dog))\n", "(NN", " owl)\n"]),
}


def options(kind: str) -> Options:
    named = None if kind in ("headless", "csv", "jsonl") else kind
    pieces = lambda text: [(at, at + 1) for at, sign in enumerate(text) if sign != " "]  # noqa: E731
    columns = "1,,2" if kind == "headless" else None
    return Options(kind=named, columns=columns, skip_bad=True, segment=8, offsets=pieces)


pytestmark = pytest.mark.usefixtures("streamed")


def written(folder: str | Path, name: str, content: str) -> Path:
    path = Path(folder) / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize(("kind", "end"), paired(FILES, ["", ".gz"]))
@given(data=st.data())
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_reading_from_any_example_equals_skipping(kind: str, end: str, data: st.DataObject) -> None:
    name, begin, pieces = FILES[kind]
    content = begin + "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=12)))
    with TemporaryDirectory() as folder:
        try:
            corpus = read(written(folder, name + end, content), options(kind))
        except HeadscopeError as error:
            assert "has no examples" in str(error) or "no column" in str(error)
            return
        examples = list(corpus)
        assert len(examples) == corpus.n_examples
        for first in range(len(examples) + 1):
            assert list(corpus.since(first)) == examples[first:]
        stream = corpus.again()
        assert isinstance(stream, Stream)
        for first in data.draw(st.lists(st.integers(0, len(examples)), max_size=6)):
            stream.go(first)
            assert list(islice(stream, 2)) == examples[first : first + 2]


def test_from_an_example_that_the_end_of_its_file_ends_a_stream_goes_back(tmp_path: Path) -> None:
    stream = read(written(tmp_path, "x.conll2000", "Cats NNS B-NP\n\nDogs NNS B-NP\n")).again()
    assert isinstance(stream, Stream) and len(list(islice(stream, 2))) == 2
    stream.go(0)
    assert len(list(stream)) == 2


@pytest.mark.parametrize("end", ["", ".gz"])
def test_what_stands_before_an_example_is_not_read(tmp_path: Path, end: str, lines_read: list[int]) -> None:
    path = written(tmp_path, f"x.tsv{end}", "sentence\n" + "A text.\n\n" * 100)
    corpus = read(path)
    lines_read.clear()
    assert next(corpus.since(90)).id == f"x.tsv{end}:182"
    assert min(lines_read) >= 181


def test_of_a_large_corpus_few_places_are_kept(tmp_path: Path, lines_read: list[int]) -> None:
    corpus = read(written(tmp_path, "x.txt", "A text.\n" * 2 * MOST_MARKS))
    stream = corpus.again()
    assert isinstance(stream, Stream) and len(stream.marks.marks) <= MOST_MARKS
    for first in range(0, 2 * MOST_MARKS, 1000):
        lines_read.clear()
        assert next(corpus.since(first)).id == f"x.txt:{first + 1}"
        assert len(lines_read) <= 4


def test_a_folder_is_read_from_the_file_of_an_example(tmp_path: Path, lines_read: list[int]) -> None:
    """Also by a reader that has no places within a file."""
    for name in "abc":
        written(tmp_path, f"{name}.mrg", "((NN cat))\n" * 5)
    corpus = read(tmp_path, Options(kind="brackets"))
    examples = list(corpus)
    lines_read.clear()
    assert list(corpus.since(11)) == examples[11:]
    assert len(lines_read) == 6


def test_an_id_that_comes_twice_is_left_out_from_any_example_on(tmp_path: Path) -> None:
    """Which of two examples is left out depends on all that is before it."""
    line = '{"text": "a b", "id": "%s", "links": []}\n'
    corpus = read(
        written(tmp_path, "x.jsonl", "".join(line % id for id in "abaca")), Options(kind="links", skip_bad=True)
    )
    found = [[example.id for example in corpus.since(first)] for first in (0, 1, 2)]
    assert found == [["a", "b", "c"], ["b", "c"], ["c"]]


def test_the_limit_holds_from_any_example_on(tmp_path: Path) -> None:
    corpus = read(written(tmp_path, "x.txt", "A text.\n" * 9), Options(limit=5))
    assert [len(list(corpus.since(first))) for first in (0, 3, 5)] == [5, 2, 0]


def test_a_line_has_its_number_from_any_example_on(tmp_path: Path) -> None:
    """Of a file that is damaged after it was read."""
    path = written(tmp_path, "x.tsv", "sentence\tlabel\n" + "A text.\t1\n" * 9)
    corpus = read(path)
    written(tmp_path, "x.tsv", "sentence\tlabel\n" + "A text.\t1\n" * 8 + "A text. 1\n")
    with pytest.raises(HeadscopeError, match=r"x.tsv', line 10: 1 columns, expected 2"):
        list(corpus.since(7))


def test_texts_in_memory_have_no_places() -> None:
    assert [example.id for example in read(["One.", "Two.", "Three."]).since(1)] == ["list:2", "list:3"]
