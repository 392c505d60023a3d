"""Plain text."""

import pytest

from headscope import HeadscopeError
from headscope.corpora import Options
from headscope.linguistics.sentence import Example, Sentence
from support.written import corpus


def test_each_line_is_an_example_and_blank_lines_separate():
    found = corpus("x.txt", "It rained.\n\n  We stayed in. \n")
    assert list(found) == [
        Example("x.txt:1", (Sentence("It rained.", document="x.txt:1"),)),
        Example("x.txt:3", (Sentence("We stayed in.", document="x.txt:3"),)),
    ]
    assert found.skipped == {}


WORD = "1\tIt\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trained\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\ncalls NNS B-NP O\n. . O O\n", "conll2000"),
        ("-DOCSTART- -X- -X- O\n\nIt PRP B-NP\nrained VBD B-VP\n. . O\n\nWe PRP B-NP\n", "conll2000"),
        (f"# text = It rained\n{WORD * 2}", "conllu"),
        ("#begin document (a); part 000\na 0 0 It PRP (TOP* - - - - * -\n", "conll2012"),
    ],
)
def test_words_in_columns_are_no_prose_until_it_is_said(content, kind):
    with pytest.raises(HeadscopeError, match=rf"would be read as prose; name its kind, '{kind}', with "):
        corpus("x.txt", content)
    if kind != "conll2012":
        assert corpus("x.txt", content, Options(kind=kind)).n_examples in (1, 2)
    assert corpus("x.txt", content, Options(kind="text")).n_examples >= 2


def test_columns_that_no_kind_reads_are_asked_about_too():
    with pytest.raises(HeadscopeError, match="would be read as prose; save its words as sentences, one a line, or 'te"):
        corpus("x.txt", "EU B-ORG\nrejects O\ncalls O\n. O\n")


@pytest.mark.parametrize(
    "content",
    [
        "He slept .\nShe read .\nIt rained .\nWe left .\n",
        "1 egg\n2 cups\n3 spoons\n4 pots\n",
        "Blood type O\nBlood type A\nBlood type B\nBlood type O\n",
        "a\tb\nc\td\ne\tf\ng\th\n",
        "O\nO\nO\nO\n",
    ],
)
def test_prose_is_read(content):
    assert corpus("x.txt", content).n_examples == 4
