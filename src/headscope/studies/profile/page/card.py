"""What a head attends to, how far and how broadly (Clark et al. 2019, section 3; Kovaleva et al. 2019, 4.4)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.figures.labels import label
from headscope.report.cards.head_rows import Row
from headscope.report.cards.wording import cases, of, one, ordinal, ranked, value
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
    """Where attention goes, near and far, and how broadly; without what the model does not have."""
    split = [(address, *address.partition(".")[::2]) for address in COLUMNS]
    return tuple(address for address, name, label in split if _has(result, name, label))


def _has(result: xr.Dataset, name: str, label: str) -> bool:
    if name not in result:
        return False
    array = result[name]
    for dim in set(array.dims) - {"layer", "head"}:
        array = array[{dim: [str(value) == label for value in array[dim].values.tolist()]}]
    return bool(array.notnull().any())


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """What uniform attention would give."""
    uniform = {"attention_to": "token_share", "entropy": "uniform_entropy", "cls_entropy": "uniform_entropy"}
    return {name: result[share] for name, share in uniform.items() if share in result}


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """Classes of token, neighbours, breadth, and the features and links that it attends to more than most heads."""
    if goes := of(numbers, "attention_to"):
        shares = ", ".join(f"{row.words} {value(row)}{_uniform(row)}" for row in goes)
        yield Finding("Attends to", f"{shares}; {cases(goes[0])}.")
    if near := of(numbers, "attention_offset"):
        said = "; ".join(f"{row.words} {value(row)} ({ranked(row)})" for row in near)
        yield Finding("Neighbours", f"{said}; {cases(near[0])}.")
    if (row := one(numbers, "entropy")) is not None:
        uniform = "" if pd.isna(row.baseline) else f", uniform attention {number(row.baseline)}"
        yield Finding("Breadth", f"Entropy {value(row)} nats ({ranked(row)}{uniform}); {cases(row)}.")
    yield from _features(numbers)


def _uniform(row: Row) -> str:
    return "" if pd.isna(row.baseline) else f" (uniform attention {number(row.baseline)})"


def _features(numbers: pd.DataFrame) -> Iterator[Finding]:
    words = {label("feature", name) for name in FEATURES[:6]}
    rows = [row for row in of(numbers, "feature_attention") if row.words in words] + of(numbers, "token_attention")
    if not rows:
        return
    first = sorted((row for row in rows if row.rank <= FIRST), key=lambda row: row.rank)
    if first:
        said = "; ".join(f"{row.words} {value(row)} ({ranked(row)}), {cases(row)}" for row in first)
        least, most = ordinal(1), ordinal(FIRST)
        yield Finding("Words", f"Among the {least} to {most} heads of {rows[0].heads} in: {said}.{_chance(rows)}")
    else:
        best = min(rows, key=lambda row: row.rank)
        text = f"Among the first {FIRST} heads in none of {len(rows)} features and links; best in {best.words}"
        yield Finding("Words", f"{text}: {value(best)} ({ranked(best)}), {cases(best)}.")


def _chance(rows: list[Row]) -> str:
    expected = sum(FIRST / row.heads for row in rows)
    return f" Of {len(rows)} features and links, a head has such a rank in {number(expected)} on average."
