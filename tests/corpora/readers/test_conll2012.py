"""CoNLL-2012: documents that were written for these tests, in its format."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import Options, read
from headscope.corpora.parsing.bracketed_phrases import heads_of, tree_of
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Mention
from headscope.linguistics.spanning_tree import cycle
from support.written import corpus

BEGIN, END = "#begin document (own/made_0001); part 000", "#end document"
OWNER = """
The DT (TOP(S(NP(NP* (3
owner NN *) -
of IN (PP* -
Ann NNP (NP(NP* (1
's POS *) 1)
cat NN *))) 3)
slept VBD (VP*) -
/. . *)) -
"""
SHE = """
She PRP (TOP(S(NP*) (3)|(1)
ran VBD (VP*)) -
-RRB- -RRB- *) -
"""


def lines(sentence: str) -> str:
    """The rows of a sentence, from word, tag, parse and coreference."""
    rows = [line.split() for line in sentence.strip().splitlines()]
    columns = "own/made_0001   0   {}   {}    {}   {}   -   -   -   speaker   *   (ARG0*   *   {}"
    return "\n".join(columns.format(number, *row) for number, row in enumerate(rows)) + "\n\n"


def document(*sentences: str, begin: str = BEGIN) -> str:
    return f"{begin}\n{''.join(map(lines, sentences))}{END}\n"


def read_conll(content: str, **options):
    return corpus("made.v4_gold_conll", content, Options(**options))


def test_a_document_with_its_trees_and_mentions() -> None:
    first, second = read_conll(document(OWNER, SHE))
    (sentence,) = first.first
    assert first.id == "made.v4_gold_conll:2" and second.id == "made.v4_gold_conll:11"
    assert sentence.text == "The owner of Ann 's cat slept ."
    assert sentence.forms == tuple(sentence.text.split())
    assert sentence.upos == ("DET", "NOUN", "ADP", "PROPN", "PART", "NOUN", "VERB", "PUNCT")
    assert sentence.heads == (2, 7, 2, 6, 4, 3, 0, 7) and sentence.deprel == ()
    assert sentence.mentions == (Mention("3", 0, 6), Mention("1", 3, 5))
    assert sentence.document == "own/made_0001; part 000"
    assert second.first[0].mentions == (Mention("3", 0, 1), Mention("1", 0, 1))
    assert second.first[0].forms[-1] == ")"


def test_parts_and_documents_have_their_own_entities() -> None:
    content = document(SHE) + document(SHE, begin="#begin document (own/made_0001); part 001")
    assert [example.first[0].document[-8:] for example in read_conll(content)] == ["part 000", "part 001"]
    assert read_conll(document(SHE, begin="#begin document (x);")).n_examples == 1


def test_without_a_parse_there_are_no_heads() -> None:
    (found,) = read_conll(document("She PRP * (1)\nran VBD * -"))
    assert found.first[0].heads == ()


def test_without_tags_there_are_no_parts_of_speech() -> None:
    tagged, untagged = read_conll(document("She PRP * (1)\nran - * -", "She - * (1)\nran - * -"))
    assert tagged.first[0].upos == ("PRON", "X") and untagged.first[0].upos == ()


def test_a_folder_is_all_of_its_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "bc").mkdir()
    for name in ("b_0002.v4_gold_conll", "bc/a_0001.v4_auto_conll", "notes.txt"):
        (tmp_path / name).write_text(document(SHE))
    found = read(tmp_path, Options(kind="conll2012"))
    assert [example.id for example in found] == ["b_0002.v4_gold_conll:2", "a_0001.v4_auto_conll:2"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (document("She PRP (S* (1\nran VBD *) -"), r"line 2: mention '\(1' opens and is not closed in its sentence"),
        (document("She PRP (S* (1\nran VBD *) 2)"), r"line 3: mention '2\)' closes and was not opened"),
        (document("She PRP (S* (1\nran VBD *) 1)|"), r"line 3: coreference '1\)\|' is not made of"),
        (document("She PRP (S* 1\nran VBD *) -"), "line 2: coreference '1' is not made of"),
        (document("She PRP (S* -\nran VBD *)) -"), r"line 3: the parse closes a phrase that is not open: '\*\)\)'"),
        (document("She PRP (S(NP* -\nran VBD *) -"), "line 2: the parse leaves the phrase 'S' open"),
        (f"{BEGIN}\nmade 0 0 She PRP *\n", "line 2: 6 columns, expected the 12 or more of CoNLL-2012"),
        (lines(SHE), "line 1: the sentence stands outside of '#begin document"),
    ],
)
def test_what_is_broken_is_refused_with_its_line_or_counted(content: str, said: str) -> None:
    with pytest.raises(HeadscopeError, match=said):
        read_conll(content)
    kept = read_conll(content + document(SHE), skip_bad=True)
    assert kept.n_examples == 1 and kept.skipped == {"bad": 1}


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        ([("the", "DT", "(NP*"), ("old", "JJ", "*"), ("cat", "NN", "*)")], "cat"),
        ([("Ann", "NNP", "(NP(NP*"), ("'s", "POS", "*)"), ("cat", "NN", "*)")], "cat"),
        ([("Ann", "NNP", "(NP*"), ("'s", "POS", "*)")], "Ann"),
        ([("Ann", "NNP", "(NP(NP*)"), ("and", "CC", "*"), ("Bo", "NNP", "(NP*))")], "Ann"),
        ([("cats", "NNS", "(NP(NP*)"), ("in", "IN", "(PP*"), ("town", "NN", "(NP*)))")], "cats"),
        ([("this", "DT", "(NP*)")], "this"),
        ([("to", "TO", "(S(VP*"), ("run", "VB", "(VP*)))")], "to"),
        ([("in", "IN", "(PP*"), ("town", "NN", "(NP*))")], "in"),
        ([("who", "WP", "(SBAR(WHNP*)"), ("ran", "VBD", "(S(VP*)))")], "who"),
    ],
)
def test_the_head_of_a_phrase(phrase: list[tuple[str, str, str]], head: str) -> None:
    forms, tags, bits = (list(column) for column in zip(*phrase, strict=True))
    found = heads_of(tree_of(bits, tags, 1), len(bits))
    assert [form for form, its in zip(forms, found, strict=True) if not its] == [head]


@st.composite
def parses(draw: st.DrawFn) -> list[str]:
    """Brackets that all have a partner."""
    bits, opened = [], 0
    for last in reversed(range(draw(st.integers(1, 8)))):
        new = draw(st.lists(st.sampled_from(["S", "NP", "VP", "PP-LOC", "X"]), min_size=0 if bits else 1, max_size=3))
        opened += len(new)
        closed = draw(st.integers(0, opened)) if last else opened
        opened -= closed
        bits.append("".join(f"({label}" for label in new) + "*" + ")" * closed)
    return bits


@given(bits=parses(), data=st.data())
def test_heads_of_any_parse_are_a_tree(bits: list[str], data: st.DataObject) -> None:
    tags = data.draw(st.lists(st.sampled_from(["NN", "POS", "VBD", "."]), min_size=len(bits), max_size=len(bits)))
    found = heads_of(tree_of(bits, tags, 1), len(bits))
    assert len(found) == len(bits) and found.count(0) == 1 and not cycle(found)


@given(bits=parses(), data=st.data())
def test_a_parse_that_lost_a_bracket_is_bad(bits: list[str], data: st.DataObject) -> None:
    positions = [position for position, bit in enumerate(bits) if ")" in bit]
    position = data.draw(st.sampled_from(positions))
    broken = [bit[:-1] if position == number else bit for number, bit in enumerate(bits)]
    with pytest.raises(Bad, match="open"):
        tree_of(broken, ["NN"] * len(bits), 1)
