"""Texts with senses as the evaluation framework of Raganato et al. 2017 has them: words in XML, keys beside it."""

import gzip
from pathlib import Path
from unittest.mock import patch

import pytest

from headscope.corpora import Corpus, Options, read
from headscope.corpora.parsing import xml
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence

WORDS = """<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="Art" pos="NOUN">art</instance>
<wf lemma="of" pos="ADP">of</wf>
<instance id="d000.s000.t001" lemma="change_ringing" pos="NOUN">change ringing</instance>
<wf lemma="." pos=".">.</wf>
"""
SENSES = Options(kind="senses")
KEYS = "d000.s000.t000 art%1:09:00:: art%1:06:00::\nd000.s000.t001 change_ringing%1:04:00::\n"


def framework(sentences: str = f'<sentence id="d000.s000">\n{WORDS}</sentence>', head: str = "") -> str:
    start = f'<?xml version="1.0" encoding="UTF-8" ?>\n{head}<corpus lang="en" source="senseval2">\n<text id="d000">\n'
    return f"{start}{sentences}\n</text>\n</corpus>\n"


def corpus(
    folder: Path, data: str = framework(), keys: str = KEYS, options: Options = SENSES, packed: str = ""
) -> Corpus:
    for name, text in (("x.data.xml", data), ("x.gold.key.txt", keys)):
        raw = text.encode()
        (folder / f"{name}{packed}").write_bytes(gzip.compress(raw) if packed else raw)
    return read(folder / f"x.data.xml{packed}", options)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_instances_have_their_keys_and_lemmas(tmp_path: Path, packed: str) -> None:
    words = ((0, 3), (4, 7), (8, 10), (11, 25), (26, 27))
    labelled = (
        LabelledSpan(((1, 2),), ("art%1:09:00::", "art%1:06:00::"), lemma="art.noun"),
        LabelledSpan(((3, 4),), ("change_ringing%1:04:00::",), lemma="change_ringing.noun"),
    )
    document = f"x.data.xml{packed}:d000"
    sentence = Sentence("The art of change ringing .", words, document=document, labelled=labelled)
    found = corpus(tmp_path, packed=packed)
    assert list(found) == [Example("d000.s000", (sentence,))] and found.skipped == {} and found.n_documents == 1


def test_what_has_no_partner_is_counted_and_the_hash_is_also_of_the_keys(tmp_path: Path) -> None:
    found = corpus(tmp_path, keys="d000.s000.t000 art%1:09:00::\n\nd000.s009.t000 art%1:06:00::\n")
    assert found.skipped == {"instances without a key": 1, "keys without an instance": 1}
    assert found.sha256 != corpus(tmp_path).sha256


def test_a_file_may_be_large_if_its_texts_are_not(tmp_path: Path) -> None:
    texts = "</text>\n<text id='d{0}'>\n<sentence id='d{0}.s0'><wf lemma='a' pos='DET'>A</wf></sentence>"
    many = framework("".join(texts.format(number) for number in range(1, 40)))
    with patch.object(xml, "MOST_ELEMENTS", 20):
        assert len(corpus(tmp_path, many, KEYS)) == 39
    with patch.object(xml, "MOST_ELEMENTS", 20), pytest.raises(HeadscopeError, match="line 4: more than 20 elements"):
        corpus(tmp_path, framework(f"<sentence id='d0.s0'>{'<wf/>' * 30}</sentence>"))


@pytest.mark.parametrize(
    ("data", "keys", "said"),
    [
        (framework(head='<!DOCTYPE x [<!ENTITY a "b">]>'), KEYS, "line 2: a document type is declared"),
        (framework().replace("</corpus>", ""), KEYS, "line 13: not XML"),
        (framework().replace(">art<", "> <"), KEYS, "line 6: <instance> has no text"),
        (framework().replace(' lemma="Art"', ""), KEYS, "line 6: <instance> has no lemma"),
        (framework().replace('<text id="d000">', "<text>"), KEYS, "line 3: <text> has no id"),
        (framework(), f"{KEYS}d000.s000.t000 art%1:09:00::\n", "line 3: instance 'd000.s000.t000' comes again"),
        (framework(), "d000.s000.t000\n", "line 1: instance 'd000.s000.t000' has no key"),
        (framework(""), KEYS, "no examples"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, data: str, keys: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        corpus(tmp_path, data, keys)


def test_bad_sentences_may_be_left_out_and_files_may_be_missing(tmp_path: Path) -> None:
    two = f'<sentence id="d000.s001"><wf lemma="a" pos="DET"/></sentence><sentence id="d000.s000">{WORDS}</sentence>'
    found = corpus(tmp_path, framework(two), options=Options(kind="senses", skip_bad=True))
    assert [example.id for example in found] == ["d000.s000"] and found.skipped == {"bad": 1}
    (tmp_path / "x.gold.key.txt").unlink()
    with pytest.raises(HeadscopeError, match=r"x\.gold\.key\.txt' does not exist"):
        read(tmp_path / "x.data.xml", kind="senses")
    with pytest.raises(HeadscopeError, match=r"name the file that ends in '\.data\.xml'"):
        read(tmp_path / "x.xml", kind="senses")
