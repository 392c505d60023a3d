"""Gradients by the attention of a head to each class of token (Clark et al. 2019, section 3.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """Separators and other tokens."""
    return ("gradient.sep", "gradient.other")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The gradient by class, with the attention to the class."""
    attention = {row.words: value(row) for row in of_variable(numbers, "attention_to")}
    if rows := of_variable(numbers, "gradient"):
        texts = "; ".join(
            f"{row.words} {value(row)} ({ranked(row)}; attention {attention.get(row.words, 'unknown')})" for row in rows
        )
        loss = str(result.attrs.get("loss", "the loss"))
        yield Finding("Gradient by attention", f"Gradient of {loss}, by attention to {texts}; {cases(rows[0])}.")
