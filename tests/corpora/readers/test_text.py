"""Plain text."""

from headscope.linguistics.sentence import Example, Sentence
from support.written import corpus


def test_each_line_is_an_example_and_blank_lines_separate():
    found = corpus("x.txt", "It rained.\n\n  We stayed in. \n")
    assert list(found) == [
        Example("x.txt:1", (Sentence("It rained.", document="x.txt:1"),)),
        Example("x.txt:3", (Sentence("We stayed in.", document="x.txt:3"),)),
    ]
    assert found.skipped == {}
