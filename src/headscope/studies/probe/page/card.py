"""What a head gives to a parser that sees only attention (Clark et al. 2019, section 5)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.report.cards.wording import cases, of, one, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import number

HIDDEN = ("weight_std",)


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """By how much it raises the score of the right word, in the better direction."""
    return ("contribution",) if "contribution" in result else ()


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """Its weight and what that comes to, in both directions."""
    for row in of(numbers, "contribution"):
        weight = one(numbers, "weight", *row.labels)
        of_weight = "" if weight is None else f", with a weight of {number(weight.value)} ({ranked(weight)})"
        text = f"Raises the score of the syntactic head over that of another word by {value(row)} {row.units}"
        yield Finding(f"In a parser, {row.words}", f"{text} ({ranked(row)}){of_weight}; {cases(row)}.")
