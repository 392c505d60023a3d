"""What a head moves from each class of token, beside its attention (Kobayashi et al. 2020, section 2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding

HIDDEN = ("attention_to",)


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """Separators."""
    return ("norm_to.sep",)


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The lengths of what the head moves, with the attention to the class."""
    attention = {row.words: value(row) for row in of_variable(numbers, "attention_to")}
    if rows := of_variable(numbers, "norm_to"):
        texts = "; ".join(
            f"{row.words} {value(row)} ({ranked(row)}; attention {attention.get(row.words, 'unknown')})" for row in rows
        )
        yield Finding("What it moves", f"Shares of the lengths |a f(x)| by class of token: {texts}; {cases(rows[0])}.")
