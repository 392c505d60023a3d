"""The page of a joined result: how many heads keep their kind on all corpora, which do not, and all numbers."""

from dataclasses import replace

from headscope.report import corpora_page, default_parts
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure


def kinds(numbers: Numbers) -> Figure:
    """The kinds of all heads by corpus."""
    return replace(corpora_page.figure(numbers.result, 1), variable="kind")


PAGE = StudyParts(
    highlights=(lambda numbers: corpora_page.findings(numbers.result),),
    findings=(lambda numbers: default_parts.findings(numbers.result),),
    charts=(kinds, lambda numbers: default_parts.figures(numbers.result)),
    tables=(lambda numbers: corpora_page.tables(numbers.result),),
)
