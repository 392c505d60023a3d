"""What `read` promises of every corpus, whatever its kind."""

import gc
import os
import tracemalloc
from hashlib import sha256
from pathlib import Path

import pytest

from headscope.corpora import Options, read, stream
from headscope.corpora import reading as module
from headscope.corpora.corpus import sample
from headscope.errors import HeadscopeError
from support.written import corpus, texts

TSV = (
    "sentence1\tsentence2\tlabel\nIt rained.\tIt was wet.\t1\nonly one\nIt snowed.\t \t0\nIt froze.\tIt was cold.\t1\n"
)


def test_a_bad_row_is_an_error_that_names_file_line_and_remedy(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text(TSV)
    with pytest.raises(HeadscopeError) as error:
        read(path)
    assert str(error.value) == (
        f"corpus '{path}', line 3: 1 columns, expected 3 (sentence1, sentence2, label); "
        "correct it, or leave such examples out with --skip-bad"
    )


def test_what_is_left_out_is_counted():
    found = corpus("x.tsv", TSV, Options(skip_bad=True))
    assert found.skipped == {"bad": 1, "empty": 1}
    assert [example.id for example in found] == ["x.tsv:2", "x.tsv:5"]
    assert len(found) == found.n_examples == 2


def test_a_corpus_is_iterated_again_and_again():
    found = corpus("x.txt", "One.\nTwo.\n")
    assert list(found) == list(found)
    assert len(list(found)) == 2


def test_name_and_hash_are_those_of_the_file(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"One.\n")
    found = read(path)
    assert found.name == f"{tmp_path.name}/x.txt"
    assert found.sha256 == sha256(b"One.\n").hexdigest()


def test_a_corpus_of_long_texts_is_not_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BYTES_IN_MEMORY", 20)
    path = tmp_path / "x.txt"
    path.write_text("It rained. " * 2)
    found = read(path)
    path.write_text("It snowed. " * 2)
    assert texts(found) == [["It snowed. It snowed."]]


def test_a_file_that_is_refused_is_not_hashed(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"It rained.\n")
    os.truncate(path, 1 << 40)
    with pytest.raises(HeadscopeError, match="line 2: more than 16 MiB in one line"):
        read(path)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_text("It rained.\n")
    monkeypatch.setattr(module, "_content", lambda example: path.write_text("It snowed, too.\n") and b"")
    with pytest.raises(HeadscopeError, match=r"x.txt' has changed while it was read; start the same command again"):
        read(path)


def test_a_large_corpus_is_read_anew_at_each_iteration(tmp_path, streamed):
    path = tmp_path / "x.txt"
    path.write_text("One.\nTwo.\nThree.\n")
    found = read(path)
    path.write_text("Four.\nFive.\nSix.\n")
    assert texts(found) == [["Four."], ["Five."], ["Six."]]
    assert texts(found) == [["Four."], ["Five."], ["Six."]]


def test_memory_does_not_grow_with_the_corpus(tmp_path, streamed, monkeypatch):
    monkeypatch.setattr(stream, "MOST_MARKS", 100)

    def peak(n: int) -> int:
        path = tmp_path / f"{n}.txt"
        path.write_text("A sentence of a few words, here.\n" * n)
        gc.collect()
        tracemalloc.start()
        assert sum(1 for _ in read(path)) == n
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(200)
    assert peak(10_000) < 1.5 * peak(1_000)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_limit_stops_after_so_many_examples(limit):
    found = corpus("x.tsv", TSV, Options(limit=limit, skip_bad=True))
    assert found.n_examples == len(list(found)) == limit


def test_a_limit_draws_from_what_can_be_read_and_says_what_cannot():
    assert corpus("x.tsv", TSV, Options(limit=1, skip_bad=True)).skipped["bad"] == 1
    with pytest.raises(HeadscopeError, match="line 3: 1 columns"):
        corpus("x.tsv", TSV, Options(limit=1))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_leaves_nothing_is_an_error(limit):
    with pytest.raises(HeadscopeError, match=f"corpus 'sample': limit {limit} leaves no example; use at least 1"):
        read(options=Options(limit=limit))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("x.txt", "", ""),
        ("x.txt", " \n\n", ""),
        ("x.tsv", "sentence\tlabel\n", ""),
        ("x.tsv", "sentence\tlabel\n \t1\n", r" \(1 empty\)"),
        ("x.conllu", "# sent_id = 1\n", r" \(1 empty\)"),
        ("x.jsonl", "", ""),
    ],
)
def test_a_corpus_without_examples_is_an_error(name, content, why):
    with pytest.raises(HeadscopeError, match=rf"x\.\w+' has no examples{why}; check it and its --kind"):
        corpus(name, content)


def test_a_missing_file_is_an_error_with_near_names(tmp_path):
    (tmp_path / "weblog.conllu").touch()
    with pytest.raises(HeadscopeError, match=r"webblog.conllu' does not exist; did you mean 'weblog.conllu'\?"):
        read(tmp_path / "webblog.conllu")


@pytest.mark.parametrize("name", ["notes", "no/such/folder/notes.txt"])
def test_a_missing_file_without_near_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HeadscopeError, match=f"corpus '{name}' does not exist; name a file, or 'sample'"):
        read(name)


def test_a_folder_needs_its_kind(tmp_path):
    with pytest.raises(HeadscopeError, match="is a folder; name a file of it, or its --kind: table, glue, hub or penn"):
        read(tmp_path)


def test_an_unknown_kind_is_an_error_with_all_kinds():
    with pytest.raises(
        HeadscopeError, match=r"'tabel' is unknown; did you mean 'table'\? there are: brackets, classes, conll2000, "
    ):
        read("x.tsv", Options(kind="tabel"))


def test_an_unknown_suffix_is_an_error_with_all_kinds():
    with pytest.raises(
        HeadscopeError,
        match=r"suffix '.raw' is not one of .*\.tsv.*; name its kind with --kind: brackets, classes, conll2000, ",
    ):
        corpus("wiki.raw.gz", "One.\n")


@pytest.mark.parametrize("source", ["x.raw", "text:x.raw"])
def test_the_kind_can_be_named(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    Path("x.raw").write_text("One.\n")
    assert texts(read(source, Options(kind="text"))) == [["One."]]


def test_a_kind_before_a_colon_is_enough(tmp_path):
    (tmp_path / "x.raw").write_text("One.\n")
    assert texts(read(f"text:{tmp_path / 'x.raw'}")) == [["One."]]


def test_a_sample_is_drawn_by_the_seed_in_the_order_of_the_corpus() -> None:
    corpus = read("sample")
    texts, drawn = [example.first[0].text for example in corpus], sample(corpus, 20, 0)
    numbers = [texts.index(example.first[0].text) for example in drawn]
    assert len(drawn) == len(numbers) == 20 and numbers == sorted(numbers) != list(range(20))
    assert list(drawn) == list(sample(corpus, 20, 0)) != list(sample(corpus, 20, 1))
    assert list(drawn.since(15)) == list(drawn)[15:]
    assert len({corpus.sha256, drawn.sha256, sample(corpus, 20, 1).sha256, sample(corpus, 21, 0).sha256}) == 4
    assert drawn.n_documents == len({example.document for example in drawn}) < corpus.n_documents
