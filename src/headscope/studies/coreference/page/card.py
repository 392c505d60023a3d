"""The share of antecedents that a head finds, beside nearest and head match (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import number, rate
from headscope.statistics.thresholds import LEAST_CASES, RATE, is_special
from headscope.studies.coreference.page.summary import kinds

HIDDEN = ("special",)
GAPS = {"attention_gap": "Stereotypes in attention", "preference_gap": "Stereotypes in preference"}


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """All kinds of mentions, and the gaps that stereotypes make."""
    return ("accuracy.all", *(name for name in GAPS if name in result))


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The better one of nearest and head match, by kind of mention."""
    return {"accuracy": result["baseline_accuracy"].sel(baseline=["nearest", "head_match"]).max("baseline")}


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """False discovery rates of the tests against the baseline and for a gap, each corrected for all heads."""
    gaps = {name: result[f"{name}_q"] for name in GAPS if name in result}
    return {"accuracy": result["q_value"]} | gaps


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The share of antecedents by kind of mention, the kinds that chose the head, and the effect of gender."""
    rows = of_variable(numbers, "accuracy")
    if rows:
        scores = "; ".join(
            f"{row.words} {value(row)}, baseline {number(row.baseline)} ({ranked(row)}), {cases(row)}, q {rate(row.q)}"
            for row in rows
        )
        special = [row.words for row in rows if is_special(row.value - row.baseline, row.q, row.n)]
        rule = f"at least 10 points over nearest and head match, q < {RATE}, at least {LEAST_CASES} mentions"
        yield Finding("Antecedents", f"{scores}. Special for: {', '.join(special) or 'none'} ({rule}).")
    yield from _chosen(result, numbers)
    for name, topic in GAPS.items():
        for row in of_variable(numbers, name):
            yield Finding(topic, f"Pro sentences minus anti sentences: {value(row)} ({ranked(row)}), q {rate(row.q)}.")


def _chosen(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Held-out scores of the kinds of mentions for which this head was selected."""
    head = head_name(numbers[0].layer, numbers[0].head) if numbers else ""
    won = [f"{each.name} {each.accuracy.percent}, n = {each.held_out:,}" for each in kinds(result) if each.head == head]
    if won:
        yield Finding("Best head of", f"Chosen as the best head; on the other half of the documents: {'; '.join(won)}.")
