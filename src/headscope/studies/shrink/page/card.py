"""Whether the gates keep a head, and how likely its gate is open."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.parts import Finding
from headscope.report.wording import number
from headscope.studies.shrink.page.findings import facts

HIDDEN = ("head_stays",)


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The probability that the gate is open; none without gates."""
    return ("head_gate",) if "gates" in facts(result) else ()


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Whether the head stays in the saved model."""
    for row in of_variable(numbers, "head_gate"):
        stays = float(result["head_stays"].sel(layer=row.layer, head=row.head)) > 0
        kept = "The head stays in the smaller model" if stays else "The head is not in the smaller model"
        yield Finding("Trained gate", f"{kept}; its gate was open with a probability of {number(row.value)}.")
