"""The best head of each relation, the heads that Kovaleva et al. (2019) would name, and what their filter keeps."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.best_heads.chosen import ChosenHead
from headscope.report.best_heads.parts import Cells, by_number_of_cases, table
from headscope.report.tables import Table
from headscope.report.wording import rate
from headscope.studies.relations.page.summary import ELSEWHERE, OTHERS, filtered, highest, relations

COLUMNS = ("Head", "Direction", "Attention", "Elsewhere", "Others", "Gain", "Untrained", "Special", "Sentences", "q")
PAPER = (
    "Kovaleva et al. (2019) have 0.201 and 0.209 for heads 1-2 and 7-6 of BERT-base, source → target, above the 99th "
    "percentile of its 144 heads, in 473 sentences of FrameNet 1.7."
)
HIGHEST = 5


def tables(result: xr.Dataset) -> list[Table]:
    """The relations of at least 50 sentences, the best gains first; the highest heads; the steps of the filter."""
    return [*_relations(result), _highest(result), *_filter(result)]


def _relations(result: xr.Dataset) -> list[Table]:
    caption = (
        "The best head of each relation: shares of attention with 95% intervals. It is chosen on one half of the "
        "sentences and scored on the other half. Elsewhere: links moved elsewhere in their sentence. Others: from "
        "other words to the same end of the link. Gain: over the larger of the two. Untrained: the largest value of "
        "any head of the same model with random weights. Special: gain of at least 0.1, q < 0.05, above untrained."
    )
    return by_number_of_cases("links", caption, "sentences", COLUMNS, relations(result), _cells)


def _highest(result: xr.Dataset) -> Table:
    names = [name for name in COLUMNS if name != "Direction"]
    rows = []
    for direction in ("source_to_target", "target_to_source"):
        limit = float(result["percentile"].sel(relation="all", direction=direction))
        for head in highest(result, direction, HIGHEST):
            cells = _cells(head)
            cells.pop(COLUMNS.index("Direction"))
            above = "yes" if head.score.value > limit else ""
            rows.append((head.arrow, [*cells, (above, "")]))
    caption = f"The heads with the most attention to all links, in all sentences, whatever the baselines get. {PAPER}"
    return table("highest", caption, "Direction", [*names, "Above 99th percentile"], rows)


def _filter(result: xr.Dataset) -> Iterator[Table]:
    if len(steps := filtered(result)) > 2:
        caption = "Examples read, dropped by each step, and kept. A step that drops single links counts links."
        rows: list[tuple[str, Cells]] = [(reason, [(f"{count:,}", "")]) for reason, count in steps]
        yield table("filter", caption, "Step", ["Number"], rows)


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
