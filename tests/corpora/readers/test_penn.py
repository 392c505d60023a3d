"""The Penn Treebank in dependency form."""

from dataclasses import replace
from pathlib import Path

import pytest

from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from support.written import corpus

GOOD = "He\tPRP\t2\nsaid\tVBD\t0\n-LRB-\t-LRB-\t5\n1\\/2\tCD\t5\nbooks\tNNS\t2\n.\t.\t2\n"


def test_a_sentence_with_its_tree() -> None:
    expected = Sentence(
        "He said ( 1/2 books .",
        ((0, 2), (3, 7), (8, 9), (10, 13), (14, 19), (20, 21)),
        ("PRON", "VERB", "PUNCT", "NUM", "NOUN", "PUNCT"),
        (2, 0, 5, 5, 2, 2),
        ("dep", "root", "punct", "dep", "dep", "punct"),
    )
    assert list(corpus("wsj.dp", GOOD)) == [Example("wsj.dp:1", (replace(expected, document="wsj.dp"),))]


def test_blank_lines_part_sentences_and_the_last_needs_none() -> None:
    found = corpus("wsj.dp", f"\n\n{GOOD}\n\nGo\tVB\t0\n")
    assert [(example.id, example.n_words) for example in found] == [("wsj.dp:3", 6), ("wsj.dp:11", 1)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("He\tPRP\n", "line 1: 2 columns, expected word, tag and head"),
        ("He\tPRP\t0\nsaid\tVBD\t7\n", "line 2: word 2: head '7' is not in 0..2"),
        ("He\tPRP\t0\nsaid\tVBD\t0\n", "line 1: the sentence has 2 roots"),
        ("He\tPRP\t0\nsaid\tVBD\t3\nso\tRB\t2\n", "line 2: word 2 is in a cycle of heads"),
    ],
)
def test_a_bad_tree_is_refused_with_its_line_or_counted(content: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        corpus("wsj.dp", content)
    kept = corpus("wsj.dp", f"{content}\n{GOOD}", Options(skip_bad=True))
    assert len(kept) == 1 and kept.skipped == {"bad": 1}


def test_a_folder_is_all_of_its_files_in_order(tmp_path: Path) -> None:
    for name in ("wsj_2.dp", "wsj_1.dp", "readme.txt"):
        (tmp_path / name).write_text(GOOD)
    assert [example.id for example in read(tmp_path, Options(kind="penn"))] == ["wsj_1.dp:1", "wsj_2.dp:1"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(HeadscopeError, match="is a folder"):
        read(tmp_path / "empty", Options(kind="penn"))


@pytest.mark.parametrize(("suffix", "content"), [("dp", f"{GOOD}\n{GOOD}"), ("mrg", "(S (NN go))\n(S (NN stay))\n")])
def test_the_files_of_a_folder_are_its_documents(tmp_path: Path, suffix: str, content: str) -> None:
    for number in range(5):
        (tmp_path / f"wsj_{number}.{suffix}").write_text(content)
    of_folder = read(tmp_path, Options(kind={"dp": "penn", "mrg": "brackets"}[suffix]))
    assert (of_folder.n_examples, of_folder.resampled) == (10, "5 documents")
    of_file = read(tmp_path / f"wsj_0.{suffix}")
    assert (of_file.n_examples, of_file.resampled) == (2, "1 document, too few for intervals")
