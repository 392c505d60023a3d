"""The best head of each relation, on the half on which it was not chosen, beside its baselines.

Also the heads that Kovaleva et al. (2019) would name, and what their filter keeps.
"""

from dataclasses import replace

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.best_head_parts import by_number_of_cases
from headscope.report.best_heads import BestHeads, ChosenHead, chosen_heads, head_at
from headscope.report.numbers import Numbers
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import rate

ELSEWHERE, OTHERS = "elsewhere", "other words at one end"
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
COLUMNS = ("Head", "Direction", "Attention", "Elsewhere", "Others", "Gain", "Untrained", "Special", "Sentences", "q")
PAPER = (
    "Kovaleva et al. (2019) have 0.201 and 0.209 for heads 1-2 and 7-6 of BERT-base, source → target, above the 99th "
    "percentile of its 144 heads, in 473 sentences of FrameNet 1.7."
)
HIGHEST = 5


def relations(result: xr.Dataset) -> list[ChosenHead]:
    """The chosen head of each relation on the other half, in the order of the result; without those that lack one."""
    return chosen_heads(result, RELATIONS)


def highest(result: xr.Dataset, direction: str, most: int) -> list[ChosenHead]:
    """The heads that give the most attention to all links in all sentences, without regard to the baselines."""
    given = result["link_attention"].sel(relation="all", direction=direction)
    ranked = given.stack(position=("layer", "head")).dropna("position")
    order = ranked["position"].values[np.argsort(-ranked.values, kind="stable")][:most]
    all_links = {"relation": "all", "direction": direction}
    positions = [all_links | {"layer": int(layer), "head": int(head)} for layer, head in order]
    return [head_at(result, ALL_SENTENCES, position) for position in positions]


def least_gain(result: xr.Dataset) -> xr.DataArray:
    """Attention to links minus the higher of the baselines, with its interval."""
    elsewhere, others = (with_interval(result, name) for name in ("gain", "gain_others"))
    first = ~(others < elsewhere)
    both = [name for name in ("lower", "upper") if name in elsewhere.coords and name in others.coords]
    bounds = {name: elsewhere[name].where(first, others[name]) for name in both}
    names = [name for name in elsewhere.coords if name not in elsewhere.dims]
    return elsewhere.drop_vars(names).where(first, others.drop_vars(names)).assign_coords(bounds)


def links(numbers: Numbers) -> list[Table]:
    """The relations of at least 50 sentences, the best gains first, and apart those of fewer."""
    caption = (
        "The best head of each relation: shares of attention with 95% intervals. It is chosen on one half of the "
        "sentences and scored on the other half. Elsewhere: links moved elsewhere in their sentence. Others: with "
        "another word at one end of the link. Gain: over the larger of the two. Untrained: the largest value of "
        "any head of the same model with random weights. Special: gain of at least 0.1, q < 0.05, above untrained."
    )
    return by_number_of_cases("links", caption, "sentences", COLUMNS, relations(numbers.result), _cells)


def highest_heads(numbers: Numbers) -> Table:
    """The heads that Kovaleva et al. would name."""
    names = [name for name in COLUMNS if name != "Direction"]
    rows = []
    for direction in ("source_to_target", "target_to_source"):
        limit = float(numbers.result["percentile"].sel(relation="all", direction=direction))
        for head in highest(numbers.result, direction, HIGHEST):
            cells = _cells(head)
            cells.pop(COLUMNS.index("Direction"))
            above = "yes" if head.score.value > limit else ""
            rows.append((head.arrow, [*cells, (above, "")]))
    caption = f"The heads with the most attention to all links, in all sentences, whatever the baselines get. {PAPER}"
    return titled("highest", caption, "Direction", [*names, "Above 99th percentile"], rows)


def filter_steps(numbers: Numbers) -> Table | None:
    """The steps of the filter and their numbers, where it drops anything."""
    steps = numbers.attribute("filter")
    if not steps["dropped"]:
        return None
    counts = {"read": steps["read"]} | steps["dropped"] | {"kept": steps["kept"]}
    caption = "Examples read, dropped by each step, and kept. A step that drops single links counts links."
    rows: list[tuple[str, Cells]] = [(reason, [(f"{count:,}", "")]) for reason, count in counts.items()]
    return titled("filter", caption, "Step", ["Number"], rows)


def _cells(head: ChosenHead) -> Cells:
    return [
        (head.head, ""),
        (head.arrow, ""),
        head.score.cell(".3f"),
        (f"{head.baselines[ELSEWHERE].value:.3f}", ""),
        (f"{head.baselines[OTHERS].value:.3f}", ""),
        head.gain.cell("+.2f"),
        None if head.random is None else head.random.cell(".3f"),
        ("yes" if head.special else "", ""),
        (f"{head.held_out:,}", ""),
        (rate(head.q), ""),
    ]
