"""The relations of a result: the chosen head beside its baselines, on the half on which it was not chosen."""

import json
from dataclasses import replace

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.best_heads.chosen import BestHeads, ChosenHead, chosen_heads, head_at

ELSEWHERE, OTHERS = "elsewhere", "from other words"
RELATIONS = BestHeads(
    ("relation",),
    score="chosen_attention",
    gains=("chosen_gain", "chosen_gain_others"),
    baselines={ELSEWHERE: "chosen_elsewhere", OTHERS: "chosen_others"},
    direction="chosen_direction",
    random="untrained",
    cases="gain_n_examples",
    held_out="chosen_attention_n_examples",
)
# Any head, in all sentences.
ALL_SENTENCES = replace(
    RELATIONS,
    score="link_attention",
    gains=("gain", "gain_others"),
    baselines={ELSEWHERE: "elsewhere", OTHERS: "others"},
    held_out="gain_n_examples",
)


def relations(result: xr.Dataset) -> list[ChosenHead]:
    """The chosen head of each relation on the other half, in the order of the result; without those that lack one."""
    return chosen_heads(result, RELATIONS)


def highest(result: xr.Dataset, direction: str, most: int) -> list[ChosenHead]:
    """The heads that give the most attention to all links in all sentences, without regard to the baselines."""
    part = result.sel(relation="all")
    ranked = part["link_attention"].sel(direction=direction).stack(position=("layer", "head")).dropna("position")
    order = ranked["position"].values[np.argsort(-ranked.values, kind="stable")][:most]
    positions = [{"layer": int(layer), "head": int(head), "direction": direction} for layer, head in order]
    return [head_at(part, ALL_SENTENCES, position) for position in positions]


def least_gain(result: xr.Dataset) -> xr.DataArray:
    """Attention to links less the higher of the baselines, with its interval."""
    elsewhere, others = (with_interval(result, name) for name in ("gain", "gain_others"))
    first = ~(others < elsewhere)
    both = [name for name in ("lower", "upper") if name in elsewhere.coords and name in others.coords]
    bounds = {name: elsewhere[name].where(first, others[name]) for name in both}
    names = [name for name in elsewhere.coords if name not in elsewhere.dims]
    return elsewhere.drop_vars(names).where(first, others.drop_vars(names)).assign_coords(bounds)


def filtered(result: xr.Dataset) -> list[tuple[str, int]]:
    """The steps of the filter and their numbers: read, dropped for each reason, kept."""
    steps = json.loads(result.attrs.get("filter", "{}"))
    return [("read", steps["read"]), *steps["dropped"].items(), ("kept", steps["kept"])] if steps else []
