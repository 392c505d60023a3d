"""Words with classes."""

import re

import pytest

from headscope import HeadscopeError
from headscope.corpora import Options
from support.written import corpus

CLASSES = Options(kind="classes")


def test_words_have_the_class_beside_them():
    first, second = corpus("x.tsv", "# H1\nQ\tFR1\nV\t_\n\nIt\tsubject\r\nrained\tverb\n", CLASSES)
    sentence = first.first[0]
    assert (sentence.text, sentence.classes, sentence.document) == ("Q V", ("FR1", ""), "H1")
    assert (second.first[0].forms, second.document) == (("It", "rained"), "line 5")


@pytest.mark.parametrize("line", ["Q", "Q\t", "Q\tFR1\tmore"])
def test_a_line_of_other_columns_is_named(line):
    with pytest.raises(HeadscopeError, match=re.escape("line 2: ")) as error:
        corpus("x.tsv", f"A\tFR1\n{line}\n", CLASSES)
    assert "expected a word and its class ('_' for none)" in str(error.value)
