"""Which relations a head knows, beside the best fixed offset (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures import bars
from headscope.report.cards.head_rows import Row
from headscope.report.cards.wording import cases, of, ranked, rate, value
from headscope.report.parts import Figure, Finding
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.syntax.page.summary import as_coded, relations

SHOWN = 8


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """All relations, in the better direction."""
    return ("accuracy.all",)


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The best fixed offset of each relation."""
    return {"accuracy": result["baseline"]}


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """That the head is no better than the offset, corrected for all heads, relations and directions."""
    return {"accuracy": result["q_value"]}


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The relations for which a head is special."""
    special = result["special"].max("direction").sel(relation=result["relation"] != "all") == 1
    names, like = special["relation"].values, result["accuracy"].isel(relation=0, direction=0, drop=True)
    by_head = special.transpose("layer", "head", "relation").values.reshape(-1, len(names))
    known = np.array([", ".join(names[row]) for row in by_head], dtype=object)
    return {"Special for": like.copy(data=known.reshape(like.shape))}


def sentences(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """The relations that it is special for, else the nearest; and those for which it was chosen and scored anew."""
    rows = [row for row in of(numbers, "accuracy") if "all" not in row.labels]
    enough = [row for row in _by_gain(rows) if row.n >= LEAST_CASES]
    special = [row for row in enough if row.value - row.baseline >= GAIN and row.q < RATE]
    tests = int(result["q_value"].notnull().sum())
    asked = f"10 points over the best fixed offset, q < {RATE}, at least {LEAST_CASES} words"
    corrected = f"corrected for {tests:,} heads, relations and directions (Benjamini-Hochberg)"
    if special:
        more = f"; and {len(special) - SHOWN} more" if len(special) > SHOWN else ""
        said = "; ".join(map(_said, special[:SHOWN])) + more
        yield Finding("Special for", f"{said} ({asked}; {corrected}).")
    elif enough:
        yield Finding("Special for", f"No relation ({asked}; {corrected}). Nearest: {_said(enough[0])}.")
    yield from _chosen(result, numbers)


def _by_gain(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.baseline - row.value)


def _said(row: Row) -> str:
    q = "" if pd.isna(row.q) else f", q {rate(row.q)}"
    return f"{row.words} {value(row)} against {row.baseline:.2f} ({ranked(row)}), {cases(row)}{q}"


def _chosen(result: xr.Dataset, numbers: pd.DataFrame) -> Iterator[Finding]:
    """What it is the best head of, on the half of the sentences on which it was not chosen."""
    if not len(numbers):
        return
    layer, head = int(numbers["layer"].iloc[0]), int(numbers["head"].iloc[0])
    mine = (result["chosen_layer"] == layer) & (result["chosen_head"] == head)
    won = [each for each in relations(result.sel(relation=mine)) if each.enough]
    if won:
        said = "; ".join(
            f"{each.name} ({each.arrow}) {each.accuracy[0]:.2f} [{each.accuracy[1]:.2f}, {each.accuracy[2]:.2f}] "
            f"against {each.baseline[0]:.2f} at offset {each.offset:+d}, n = {each.held_out:,} words"
            for each in sorted(won, key=lambda each: -each.gain[0])
        )
        where = "the same sentences" if as_coded(result) else "the other half of the sentences"
        yield Finding("Best head of", f"Chosen as the best head, on {where}: {said}.")


def figures(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """Its best relations beside the fixed offset."""
    whole = result.sel(layer=layer, head=head, relation=result["accuracy_n_examples"] >= LEAST_CASES)
    whole = whole.sel(relation=whole["relation"] != "all")
    if not whole.sizes["relation"]:
        return
    stacked = whole[["accuracy", "accuracy_ci", "baseline", "baseline_ci"]].stack(row=("relation", "direction"))
    stacked = stacked.isel(row=(stacked["baseline"] - stacked["accuracy"]).argsort().values[:SHOWN])
    names = [f"{relation}, {_arrow(direction)}" for relation, direction in stacked["row"].values.tolist()]
    parts = [_bounded(stacked, name) for name in ("accuracy", "baseline")]
    both = xr.concat(parts, xr.Variable("which", ["this head", "best fixed offset"])).transpose("row", "which")
    both = both.drop_vars(["row", "relation", "direction"]).assign_coords(row=names).rename("accuracy", row="relation")
    attrs = {"long_name": "words whose syntactic head is picked", "units": "share of words"}
    caption = "The relations in which it is furthest above the best fixed offset, with 95% intervals."
    yield Figure("relations", "Relations", bars(both.assign_attrs(attrs)), caption, "accuracy")


def _arrow(direction: str) -> str:
    return "dep → head" if direction == "dependent_to_head" else "head → dep"


def _bounded(whole: xr.Dataset, name: str) -> xr.DataArray:
    bounds = {bound: whole[f"{name}_ci"].sel(bound=bound, drop=True) for bound in ("lower", "upper")}
    return whole[name].assign_coords(bounds).rename("accuracy")
