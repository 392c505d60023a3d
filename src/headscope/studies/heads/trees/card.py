"""The trees of a head on its card."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.best_heads import ARROWS
from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.parts import Finding
from headscope.report.wording import number
from headscope.studies.heads.trees.tables import ROOTS, SPECIAL, baseline

MAIN = ("dependent_to_head", "left_out", "gold")


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The UAS from the gold root, words alone, of the dependent that looks at its head."""
    return (".".join(("uas", *MAIN)),)


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The best tree of the head, beside right-branching."""
    rows = sorted(of_variable(numbers, "uas"), key=lambda row: -row.value)
    for row in rows[:1]:
        direction, special, root = row.labels
        right = baseline(result, "uas", "right_branching").value
        beside = f"; right-branching trees have {number(right)}" if right == right else ""
        yield Finding(
            "As a parser",
            f"The spanning tree of its attention ({ARROWS[direction]}, {ROOTS[root]}, {SPECIAL[special]}) gives "
            f"{value(row)} of the words their syntactic head ({ranked(row)}){beside}; {cases(row)}.",
        )


CARD = StudyCard(main_numbers=main_numbers, sentences=sentences)
