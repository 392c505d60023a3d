"""What attention to each class of token is worth in a head (Clark et al. 2019, section 3.2)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.report.cards.wording import cases, of, ranked, value
from headscope.report.parts import Finding


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """Separators, of which much attention may be worth little, and other tokens."""
    known = result["gradient"].dropna("token_class", how="all")["token_class"].values.tolist()
    return tuple(f"gradient.{name}" for name in ("sep", "other") if name in known)


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """The gradient by class, with how much attention the class gets."""
    attention = {row.words: value(row) for row in of(numbers, "attention_to")}
    if rows := of(numbers, "gradient"):
        said = "; ".join(
            f"{row.words} {value(row)} ({ranked(row)}; attention {attention.get(row.words, 'unknown')})" for row in rows
        )
        loss = str(result.attrs.get("loss", "the loss"))
        yield Finding("Worth of attention", f"Gradient of {loss}, by attention to {said}; {cases(rows[0])}.")
