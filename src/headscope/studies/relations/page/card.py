"""What a head gives to the links of a relation, beside links elsewhere (Kovaleva et al. 2019, section 4.2)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from headscope.report.cards.head_rows import Row
from headscope.report.cards.wording import cases, of, ranked, rate, value
from headscope.report.parts import Finding
from headscope.report.wording import number
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.relations.page.summary import ARROWS, chosen
from headscope.studies.relations.page.summary import told as interval

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
    """That links get no more than these, corrected for all heads, relations and directions."""
    return {"link_attention": result["q_value"]}


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The relations whose links a head is special for."""
    special = result["special"].max("direction").transpose("layer", "head", "relation") == 1
    names, like = special["relation"].values, special.isel(relation=0, drop=True)
    known = [", ".join(names[row]) for row in special.values.reshape(-1, len(names))]
    return {"Links": like.copy(data=np.array(known, dtype=object).reshape(like.shape))}


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """The relations that it is special for, else where it gives links most beyond the baselines."""
    rows = sorted(of(numbers, "link_attention"), key=lambda row: row.baseline - row.value)
    special = [row for row in rows if float(result["special"].sel(_place(row))) == 1]
    if whole := [row for row in rows if row.labels == ("all", "source_to_target")]:
        yield Finding("All links", f"{_said(whole[0])}.")
    asked = f"0.1 over links elsewhere and other words, q < 0.05, at least {LEAST_CASES} sentences"
    corrected = f"corrected for {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    if special:
        more = f"; and {len(special) - SHOWN} more" if len(special) > SHOWN else ""
        said = "; ".join(map(_said, special[:SHOWN])) + more
        yield Finding("Special for links", f"{said} ({asked}; {corrected}).")
    elif enough := [row for row in rows if row.n >= LEAST_CASES]:
        yield Finding("Special for links", f"No relation ({asked}; {corrected}). Nearest: {_said(enough[0])}.")
    yield from _chosen(result, numbers)


def _place(row: Row) -> dict[str, object]:
    relation, direction = row.labels
    return {"layer": row.layer, "head": row.head, "relation": relation, "direction": direction}


def _said(row: Row) -> str:
    relation, direction = row.labels
    q = "" if pd.isna(row.q) else f", q {rate(row.q)} (sign test over sentences)"
    beside = f"{value(row)} against {number(row.baseline)} ({ranked(row)})"
    return f"{relation} ({ARROWS.get(direction, direction)}) {beside}, {cases(row)}{q}"


def _chosen(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """What it was chosen for on one half of the sentences, on the other."""
    if not len(numbers):
        return
    layer, head = int(numbers["layer"].iloc[0]), int(numbers["head"].iloc[0])
    mine = (result["chosen_layer"] == layer) & (result["chosen_head"] == head)
    won = [each for each in chosen(result.sel(relation=mine)) if each.enough]
    if won:
        said = "; ".join(
            f"{each.relation} ({each.arrow}) {interval(each.attention)}, gain {interval(each.gain)}, n = {each.n:,}"
            for each in won[:SHOWN]
        )
        yield Finding("Best head of links", f"Chosen as the best head, on the other half of the sentences: {said}.")
