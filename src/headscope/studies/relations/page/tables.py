"""The best head of each relation, the heads that Kovaleva et al. (2019) would name, and what their filter keeps."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import rate
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.relations.page.summary import LinkReading, chosen, filtered, highest

COLUMNS = ("Head", "Direction", "Attention", "Elsewhere", "Others", "Gain", "Untrained", "Special", "Sentences", "q")
PAPER = (
    "Kovaleva et al. (2019) have 0.201 and 0.209 for heads 1-2 and 7-6 of BERT-base, source → target, above the 99th "
    "percentile of its 144 heads, in 473 sentences of FrameNet 1.7."
)
HIGHEST = 5


def tables(result: xr.Dataset) -> list[Table]:
    """The relations of at least 50 sentences, the best gains first; the highest heads; the steps of the filter."""
    return [*_relations(result), _highest(result), *_filter(result)]


def _relations(result: xr.Dataset) -> Iterator[Table]:
    every = sorted(chosen(result), key=lambda each: (each.relation != "all", -each.gain.value))
    main = (
        "The best head of each relation: shares of attention with 95% intervals. It is chosen on one half of the "
        "sentences and scored on the other half. Elsewhere: links moved elsewhere in their sentence. Others: from "
        "other words to the same end of the link. Gain: over the larger of the two. Untrained: the largest value of "
        "any head of the same model with random weights. Special: gain of at least 0.1, q < 0.05, above untrained."
    )
    parts = {
        main: [each for each in every if each.enough],
        f"Relations of fewer than {LEAST_CASES} sentences: too few to call a head special.": [
            each for each in every if not each.enough
        ],
    }
    for number, (caption, rows) in enumerate(parts.items()):
        if rows:
            lines = [((each.relation,), _cells(each)) for each in rows]
            yield Table(f"links-{number}", caption, "", "", ("Relation",), _columns(COLUMNS), lines)


def _highest(result: xr.Dataset) -> Table:
    names = [name for name in COLUMNS if name != "Direction"]
    lines = []
    for direction in ("source_to_target", "target_to_source"):
        limit = float(result["percentile"].sel(relation="all", direction=direction))
        for each in highest(result, direction, HIGHEST):
            cells = _cells(each)
            cells.pop(COLUMNS.index("Direction"))
            above = "yes" if each.attention.value > limit else ""
            lines.append(((each.arrow,), [*cells, (above, "")]))
    caption = f"The heads with the most attention to all links, in all sentences, whatever the baselines get. {PAPER}"
    return Table("highest", caption, "", "", ("Direction",), _columns([*names, "Above 99th percentile"]), lines)


def _filter(result: xr.Dataset) -> Iterator[Table]:
    if len(steps := filtered(result)) > 2:
        lines: list = [((reason,), [(f"{count:,}", "")]) for reason, count in steps]
        caption = "Examples read, dropped by each step, and kept. A step that drops single links counts links."
        yield Table("filter", caption, "", "", ("Step",), _columns(["Number"]), lines)


def _columns(names: list[str] | tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name.lower(), name) for name in names)


def _cells(each: LinkReading) -> list[tuple[str, str] | None]:
    return [
        (each.head, ""),
        (each.arrow, ""),
        each.attention.cell(".3f"),
        (f"{each.elsewhere.value:.3f}", ""),
        (f"{each.others.value:.3f}", ""),
        each.gain.cell("+.2f"),
        None if each.untrained is None else (f"{each.untrained:.3f}", ""),
        ("yes" if each.special else "", ""),
        (f"{each.n:,}", ""),
        (rate(each.q), ""),
    ]
