"""The contribution of a head to a parser that sees only attention (Clark et al. 2019, section 5)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_labels, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import number

HIDDEN = ("weight_std",)


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The rise of the score of the right word, in the better direction."""
    return ("contribution",)


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The weight and the contribution of the head, in both directions."""
    for row in of_variable(numbers, "contribution"):
        weight = of_labels(numbers, "weight", *row.labels)
        of_weight = "" if weight is None else f", with a weight of {number(weight.value)} ({ranked(weight)})"
        text = f"Raises the score of the syntactic head over that of another word by {value(row)} {row.units}"
        yield Finding(f"In a parser, {row.words}", f"{text} ({ranked(row)}){of_weight}; {cases(row)}.")
