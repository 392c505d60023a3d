"""The relations of a head beside the best fixed offset (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.figures import bars, with_interval
from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.cards.wording import cases, ranked, value
from headscope.report.parts import Figure, Finding
from headscope.report.wording import first_of, number, rate
from headscope.statistics.thresholds import LEAST_CASES, RATE, enough
from headscope.studies.syntax.page.summary import as_coded, judged_on, relations

SHOWN = 8


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """All relations, in the better direction."""
    every = result["accuracy"].sel(relation=result["relation"] == "all")
    return ("accuracy.all",) if every.notnull().any() else ()


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The best fixed offset of each relation."""
    return {"accuracy": result["baseline"]}


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """False discovery rates of the test against the offset, corrected for all heads, relations and directions."""
    return {"accuracy": result["q_value"]}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The relations for which the head is special, else the nearest; then the relations that it was chosen for."""
    rows = [row for row in of_variable(numbers, "accuracy") if "all" not in row.labels and enough(row.n)]
    rows = sorted(rows, key=lambda row: row.baseline - row.value)
    special = [_sentence(row) for row in rows if float(result["special"].sel(_place(row))) == 1]
    rule = (
        f"at least 10 points over the best fixed offset {judged_on(result)}, q < {RATE}, at least {LEAST_CASES} words; "
        f"corrected for {int(result['q_value'].notnull().sum()):,} heads, relations and directions (Benjamini-Hochberg)"
    )
    if special:
        yield Finding("Special for", f"{first_of(special, SHOWN)} ({rule}).")
    elif rows:
        yield Finding("Special for", f"No relation ({rule}). Nearest: {_sentence(rows[0])}.")
    yield from _chosen(result, numbers)


def _place(row: Row) -> dict[str, object]:
    return {"layer": row.layer, "head": row.head, "relation": row.labels[0], "direction": row.labels[1]}


def _sentence(row: Row) -> str:
    q = "" if pd.isna(row.q) else f", q {rate(row.q)}"
    return f"{row.words} {value(row)}, best fixed offset {number(row.baseline)} ({ranked(row)}), {cases(row)}{q}"


def _chosen(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Held-out scores of the relations for which this head was selected."""
    if not numbers:
        return
    layer, head = numbers[0].layer, numbers[0].head
    mine = (result["chosen_layer"] == layer) & (result["chosen_head"] == head)
    won = sorted(
        (each for each in relations(result.sel(relation=mine)) if each.enough), key=lambda one: -one.gain.value
    )
    if won:
        scores = "; ".join(
            f"{each.name} ({each.arrow}) {each.accuracy.text}, offset {each.offset:+d} has "
            f"{number(each.baseline.value)}, n = {each.held_out:,} words"
            for each in sorted(won, key=lambda each: -each.gain.value)
        )
        where = "the same sentences" if as_coded(result) else "the other half of the sentences"
        yield Finding("Best head of", f"Chosen as the best head; scores on {where}: {scores}.")


def figures(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """Its best relations beside the fixed offset."""
    whole = result.sel(layer=layer, head=head, relation=result["accuracy_n_examples"] >= LEAST_CASES)
    whole = whole.sel(relation=whole["relation"] != "all")
    if not whole.sizes["relation"]:
        return
    stacked = whole[["accuracy", "accuracy_ci", "baseline", "baseline_ci"]].stack(row=("relation", "direction"))
    stacked = stacked.isel(row=(stacked["baseline"] - stacked["accuracy"]).argsort().values[:SHOWN])
    names = [f"{relation}, {_arrow(direction)}" for relation, direction in stacked["row"].values.tolist()]
    parts = [with_interval(stacked, name).rename("accuracy") for name in ("accuracy", "baseline")]
    both = xr.concat(parts, xr.Variable("which", ["this head", "best fixed offset"])).transpose("row", "which")
    both = both.drop_vars(["row", "relation", "direction"]).assign_coords(row=names).rename("accuracy", row="relation")
    attrs = {"long_name": "words whose syntactic head is picked", "units": "share of words"}
    caption = "The relations in which the head is furthest above the best fixed offset, with 95% intervals."
    yield Figure("relations", "Relations", bars(both.assign_attrs(attrs)), caption, "accuracy")


def _arrow(direction: str) -> str:
    return "dep → head" if direction == "dependent_to_head" else "head → dep"
