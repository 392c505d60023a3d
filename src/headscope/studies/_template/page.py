"""The page of the study: claims with their numbers, intervals and cases."""

from headscope.report.claims import most_of_many
from headscope.report.declared import StudyCard, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import examples, listed, strongest

MOST_HEADS_NAMED = 3


def itself(numbers: Numbers) -> Finding:
    """The heads that look most at the token itself: a claim that is tested, with a title for each verdict.

    A number that the result does not have, as of a corpus without what is measured, leaves its part out.
    """
    attention = numbers.array("template")
    heads = strongest(attention)
    return Finding.judged(
        most_of_many(attention),
        f"Most attention to it: {listed(heads[:MOST_HEADS_NAMED])}.{examples(attention)}",
        holds=f"Head {heads[0].head} looks at the token itself as no other head does",
        fails="No head stands out by looking at the token itself",
        undecided="It cannot be told whether a head stands out by looking at the token itself",
        unit="examples",
    )


PAGE = StudyParts(findings=(itself,), card=StudyCard(main_numbers=("template",)))
