"""How often a head points at an antecedent, beside nearest and head match (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.report.cards.wording import cases, of, ranked, rate, value
from headscope.report.parts import Finding
from headscope.report.wording import number
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.coreference.page.summary import kinds, percent

HIDDEN = ("special",)
GAPS = {"attention_gap": "Stereotypes in attention", "preference_gap": "Stereotypes in preference"}


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """All kinds of mentions, and the gaps that stereotypes make."""
    return ("accuracy.all", *(name for name in GAPS if name in result))


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The better one of nearest and head match, for each kind of mention."""
    return {"accuracy": result["baseline_accuracy"].sel(baseline=["nearest", "head_match"]).max("baseline")}


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """That the head is no better than that, and that there is no gap; each corrected for all heads."""
    gaps = {name: result[f"{name}_q"] for name in GAPS if name in result}
    return {"accuracy": result["q_value"]} | gaps


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """What kinds of mentions it finds the antecedents of, whether it was chosen for any, and what gender does to it."""
    rows = of(numbers, "accuracy")
    if rows:
        said = "; ".join(
            f"{row.words} {value(row)} against {number(row.baseline)} ({ranked(row)}), {cases(row)}, q {rate(row.q)}"
            for row in rows
        )
        special = [
            row.words for row in rows if row.value - row.baseline >= GAIN and row.q < RATE and row.n >= LEAST_CASES
        ]
        asked = f"10 points over nearest and head match, q < {RATE}, at least {LEAST_CASES} mentions"
        yield Finding("Antecedents", f"{said}. Special for: {', '.join(special) or 'none'} ({asked}).")
    yield from _chosen(result, numbers)
    for name, topic in GAPS.items():
        for row in of(numbers, name):
            yield Finding(topic, f"Pro sentences less anti sentences: {value(row)} ({ranked(row)}), q {rate(row.q)}.")


def _chosen(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """What it was chosen for, on the half of the documents on which it was not."""
    head = f"{int(numbers['layer'].iloc[0])}-{int(numbers['head'].iloc[0])}" if len(numbers) else ""
    won = [
        f"{each.name} {percent(each.accuracy)}, n = {each.held_out:,}" for each in kinds(result) if each.head == head
    ]
    if won:
        yield Finding("Best head of", f"Chosen as the best head, on the other half of the documents: {'; '.join(won)}.")
