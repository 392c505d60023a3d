"""What a best head has on its card: its special relations, and those for which it was selected."""

from collections.abc import Callable, Iterator

import pandas as pd
import xarray as xr

from headscope.report.best_heads.chosen import tests_made
from headscope.report.cards.head_numbers import Row
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Finding
from headscope.report.wording import first_of, number, rate
from headscope.statistics.thresholds import enough


def special_for(
    result: xr.Dataset, rows: list[Row], topic: str, sentence: Callable[[Row], str], rule: str, shown: int
) -> Iterator[Finding]:
    """The relations for which a head is special; else the one with the largest gain over its baseline.

    * `rows`: a number of the head for each relation and direction.
    * `rule`: when a head is special; `shown`: how many relations are named at most.
    """
    rows = sorted((row for row in rows if enough(row.n)), key=lambda row: row.baseline - row.value)
    special = [sentence(row) for row in rows if float(result["special"].sel(_position(row))) == 1]
    rule = f"{rule}; corrected for {tests_made(result)} heads, relations and directions (Benjamini-Hochberg)"
    if special:
        yield Finding(topic, f"{first_of(special, shown)} ({rule}).")
    elif rows:
        yield Finding(topic, f"No relation ({rule}). Nearest: {sentence(rows[0])}.")


def _position(row: Row) -> dict[str, object]:
    relation, direction = row.labels
    return {"layer": row.layer, "head": row.head, "relation": relation, "direction": direction}


def beside_baseline(row: Row, baseline: str, test: str = "") -> str:
    """A number of a head beside its baseline, with its rank, cases and rate.

    * `baseline`: its name; `test`: the name of the test, in brackets.
    """
    q = "" if pd.isna(row.q) else f", q {rate(row.q)}{test}"
    return f"{value(row)}, {baseline} {number(row.baseline)} ({ranked(row)}), {cases(row)}{q}"


def best_head_of(scores: list[str], where: str, topic: str = "Chosen head of") -> Iterator[Finding]:
    """The held-out scores of what a head was selected for; nothing where it was not selected.

    * `where`: the inputs of the scores.
    """
    if scores:
        yield Finding(topic, f"This run chose the head for these; scores on {where}: {'; '.join(scores)}.")
