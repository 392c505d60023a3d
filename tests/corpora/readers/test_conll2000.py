"""Chunks as in CoNLL-2000."""

import zipfile
from pathlib import Path

import pytest

from headscope.corpora import read
from headscope.errors import HeadscopeError
from support.written import corpus

TEXT = "He PRP B-NP\nate VBD B-VP\na DT B-NP\npie NN I-NP\n-LRB- ( O\n\nRain NN B-NP\n"


def test_sentences_have_words_tags_and_chunks() -> None:
    first, second = [example.first[0] for example in corpus("x.conll2000", TEXT)]
    assert first.text == "He ate a pie (" and first.forms == ("He", "ate", "a", "pie", "(")
    assert first.upos == ("PRON", "VERB", "DET", "NOUN", "X")
    assert first.chunks == ("B-NP", "B-VP", "B-NP", "I-NP", "O") and second.chunks == ("B-NP",)
    assert not first.heads and first.mentions is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("He PRP\n", "line 1: 2 columns, expected word, tag and chunk, separated by blanks"),
        ("He PRP B-NP\nate VBD VP\n", "line 2: chunk 'VP' is neither O nor B-KIND nor I-KIND"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        corpus("x.conll2000", text)


def test_the_real_file_has_its_sentences(real_data: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(real_data / "nltk" / "conll2000.zip") as packed:
        packed.extract("conll2000/test.txt", tmp_path)
    assert len(read(f"conll2000:{tmp_path}/conll2000/test.txt")) == 2012


def test_conll_2003_has_documents_and_its_named_entities_are_counted() -> None:
    start = "-DOCSTART- -X- -X- O\n\n"
    found = corpus("x.conll2000", f"{start}EU NNP B-NP B-ORG\ncalls VBZ B-VP O\n\n{start}Rain NN I-NP O\n")
    sentences = [example.first[0] for example in found]
    assert [sentence.chunks for sentence in sentences] == [("B-NP", "B-VP"), ("I-NP",)]
    assert [sentence.document for sentence in sentences] == ["x.conll2000:1", "x.conll2000:6"]
    assert found.skipped == {"sentences of which named entities are not read": 2}
