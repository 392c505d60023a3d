"""Targets, distance and breadth of attention (Clark et al. 2019, section 3; Kovaleva et al. 2019, 4.4)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.figures.labels import label
from headscope.report.cards.head_numbers import Row, of_labels, of_variable
from headscope.report.cards.wording import cases, ordinal, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import number
from headscope.results.vocabulary import FEATURES

FIRST = 5
COLUMNS = (
    "attention_to.cls",
    "attention_to.sep",
    "attention_to.punct",
    "attention_offset.-1",
    "attention_offset.0",
    "attention_offset.1",
    "entropy",
    "cls_entropy",
)


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """Attention to classes of tokens and neighbours, and breadth."""
    return COLUMNS


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The values of uniform attention."""
    uniform = {"attention_to": "token_share", "entropy": "uniform_entropy", "cls_entropy": "uniform_entropy"}
    return {name: result[share] for name, share in uniform.items() if share in result}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Classes of tokens, neighbours, breadth, and the features and links in which the head has a high rank."""
    if goes := of_variable(numbers, "attention_to"):
        shares = ", ".join(f"{row.words} {value(row)}{_uniform(row)}" for row in goes)
        yield Finding("Attends to", f"{shares}; {cases(goes[0])}.")
    if near := of_variable(numbers, "attention_offset"):
        texts = "; ".join(f"{row.words} {value(row)} ({ranked(row)})" for row in near)
        yield Finding("Neighbours", f"{texts}; {cases(near[0])}.")
    if (row := of_labels(numbers, "entropy")) is not None:
        uniform = "" if pd.isna(row.baseline) else f", uniform attention {number(row.baseline)}"
        yield Finding("Breadth", f"Entropy {value(row)} nats ({ranked(row)}{uniform}); {cases(row)}.")
    yield from _features(numbers)


def _uniform(row: Row) -> str:
    return "" if pd.isna(row.baseline) else f" (uniform attention {number(row.baseline)})"


def _features(numbers: list[Row]) -> Iterator[Finding]:
    words = {label("feature", name) for name in FEATURES[:6]}
    rows = [row for row in of_variable(numbers, "feature_attention") if row.words in words] + of_variable(
        numbers, "token_attention"
    )
    if not rows:
        return
    first = sorted((row for row in rows if row.rank <= FIRST), key=lambda row: row.rank)
    if first:
        texts = "; ".join(f"{row.words} {value(row)} ({ranked(row)}), {cases(row)}" for row in first)
        least, most = ordinal(1), ordinal(FIRST)
        yield Finding("Words", f"Among the {least} to {most} heads of {rows[0].heads} in: {texts}.{_chance(rows)}")
    else:
        best = min(rows, key=lambda row: row.rank)
        text = f"Among the first {FIRST} heads in none of {len(rows)} features and links; best in {best.words}"
        yield Finding("Words", f"{text}: {value(best)} ({ranked(best)}), {cases(best)}.")


def _chance(rows: list[Row]) -> str:
    expected = sum(FIRST / row.heads for row in rows)
    return f" Of {len(rows)} features and links, a head has such a rank in {number(expected)} on average."
