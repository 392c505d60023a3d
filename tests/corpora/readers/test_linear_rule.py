"""Generated sentences with a main auxiliary or a subject."""

import pytest

from headscope.corpora import Options
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import LabelledSpan
from support.written import corpus

LIN = Options(kind="linear_rule")
HOLDS, FAILS = "my cat can see some dog who will eat\t2\n", "my cat who can sleep will eat\t5\n"


def test_candidates_are_auxiliaries_or_nouns_in_groups_by_the_linear_rule() -> None:
    first, second = corpus("aux.gen.tsv", HOLDS + FAILS, LIN)
    assert first.first[0].labelled == (
        LabelledSpan(((2, 3),), ("main",), "first word"),
        LabelledSpan(((7, 8),), ("other",), "first word"),
    )
    assert [(span.spans[0][0], span.labels[0], span.group) for span in second.first[0].labelled] == [
        (3, "other", "not the first word"),
        (5, "main", "not the first word"),
    ]
    (compound,) = corpus("sbjn.gen.tsv", "your queen bee will hit some bees\t2\n", LIN)
    assert [span.labels for span in compound.first[0].labelled] == [("other",), ("main",), ("other",)]


def test_sentences_with_one_candidate_are_counted() -> None:
    assert corpus("aux.train.tsv", HOLDS + "our dogs can move\t2\n", LIN).skipped == {"one candidate": 1}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("our dogs can move", "no tab; expected a sentence and the number of a word"),
        ("our dogs can move\tx", "number 'x' is not a whole number"),
        ("our dogs can move\t4", "number 4, but the words are 0 to 3"),
        ("our dogs can move\t3", "word 3 is 'move', which is neither an auxiliary nor a noun of Lin et al."),
    ],
)
def test_a_row_that_is_none(row: str, said: str) -> None:
    with pytest.raises(HeadscopeError) as error:
        corpus("aux.train.tsv", f"{HOLDS}{row}\n", LIN)
    assert f"line 2: {said}" in str(error.value)
