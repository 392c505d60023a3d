"""The attention of a head to the links of a relation, beside its baselines (Kovaleva et al. 2019, section 4.2)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import first_of, number, rate
from headscope.statistics.thresholds import LEAST_CASES, RATE, enough
from headscope.studies.relations.page.summary import ARROWS, chosen

HIDDEN = ("untrained", "elsewhere", "others", "gain", "gain_others")
SHOWN = 6


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """All links, in the direction of the paper."""
    return ("link_attention.all.source_to_target",)


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The larger one of links elsewhere and of other words at the same end."""
    elsewhere, others = result["elsewhere"], result["others"]
    return {"link_attention": elsewhere.where(~(others > elsewhere), others)}


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """False discovery rates of the tests against the baselines, corrected for all heads, relations and directions."""
    return {"link_attention": result["q_value"]}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The relations for which the head is special, else the relation with the largest gain over the baselines."""
    rows = sorted(of_variable(numbers, "link_attention"), key=lambda row: row.baseline - row.value)
    special = [row for row in rows if float(result["special"].sel(_place(row))) == 1]
    if whole := [row for row in rows if row.labels == ("all", "source_to_target")]:
        yield Finding("All links", f"{_sentence(whole[0])}.")
    rule = f"at least 0.1 over links elsewhere and other words, q < {RATE}, at least {LEAST_CASES} sentences"
    corrected = f"corrected for {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    if special:
        yield Finding("Special for links", f"{first_of([*map(_sentence, special)], SHOWN)} ({rule}; {corrected}).")
    elif frequent := [row for row in rows if enough(row.n)]:
        yield Finding("Special for links", f"No relation ({rule}; {corrected}). Nearest: {_sentence(frequent[0])}.")
    yield from _chosen(result, numbers)


def _place(row: Row) -> dict[str, object]:
    relation, direction = row.labels
    return {"layer": row.layer, "head": row.head, "relation": relation, "direction": direction}


def _sentence(row: Row) -> str:
    relation, direction = row.labels
    q = "" if pd.isna(row.q) else f", q {rate(row.q)} (sign test over sentences)"
    beside = f"{value(row)}, baseline {number(row.baseline)} ({ranked(row)})"
    return f"{relation} ({ARROWS.get(direction, direction)}) {beside}, {cases(row)}{q}"


def _chosen(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Held-out scores of the relations for which this head was selected."""
    if not numbers:
        return
    layer, head = numbers[0].layer, numbers[0].head
    mine = (result["chosen_layer"] == layer) & (result["chosen_head"] == head)
    won = [each for each in chosen(result.sel(relation=mine)) if each.enough]
    if won:
        scores = "; ".join(
            f"{each.relation} ({each.arrow}) {each.attention.text}, gain {each.gain.text}, n = {each.n:,}"
            for each in won[:SHOWN]
        )
        yield Finding("Best head of links", f"Chosen as the best head; on the other half of the sentences: {scores}.")
