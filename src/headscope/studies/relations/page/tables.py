"""The best head of each relation, the heads that Kovaleva et al. (2019) would name, and what their filter keeps."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.tables import Column, Table
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.relations.page.summary import Interval, Reading, chosen, filtered, highest

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
    found = sorted(chosen(result), key=lambda each: (each.relation != "all", -each.gain[0]))
    main = (
        "The head that gains most, by relation: shares of attention with their 95% intervals; chosen on one half, "
        "scored on the other half of the sentences. Elsewhere: links moved elsewhere in their sentence. Others: from "
        "other words to the same end of the link. Gain: on the larger of the two. Untrained: the most of any head of "
        "the same model with random weights. Special: a gain of 0.1 or more, q < 0.05, above the untrained model."
    )
    parts = {
        main: [each for each in found if each.enough],
        f"Relations of fewer than {LEAST_CASES} sentences: too few to call a head special.": [
            each for each in found if not each.enough
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
            above = "yes" if each.attention[0] > limit else ""
            lines.append(((each.arrow,), [*cells, (above, "")]))
    caption = f"The heads with the most attention on all links, in all sentences, whatever links elsewhere get. {PAPER}"
    return Table("highest", caption, "", "", ("Direction",), _columns([*names, "Above 99th percentile"]), lines)


def _filter(result: xr.Dataset) -> Iterator[Table]:
    if len(steps := filtered(result)) > 2:
        lines: list = [((reason,), [(f"{count:,}", "")]) for reason, count in steps]
        caption = "What was read, what each step dropped, and what was kept; of links that go alone, links are counted."
        yield Table("filter", caption, "", "", ("Step",), _columns(["Number"]), lines)


def _columns(names: list[str] | tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name.lower(), name) for name in names)


def _cells(each: Reading) -> list[tuple[str, str] | None]:
    return [
        (each.head, ""),
        (each.arrow, ""),
        (f"{each.attention[0]:.3f}", _bounds(each.attention)),
        (f"{each.elsewhere[0]:.3f}", ""),
        (f"{each.others[0]:.3f}", ""),
        (f"{each.gain[0]:+.3f}", _bounds(each.gain)),
        None if each.untrained is None else (f"{each.untrained:.3f}", ""),
        ("yes" if each.special else "", ""),
        (f"{each.n:,}", ""),
        (f"{each.q:.2g}" if each.q >= 1e-4 else "<0.0001", ""),
    ]


def _bounds(interval: Interval) -> str:
    return f"{interval[1]:.3f}, {interval[2]:.3f}"
