"""The attention of a head to the links of a relation, beside its baselines (Kovaleva et al. 2019, section 4.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.best_head_parts import beside_baseline, best_head_of, sink_of_head, special_for
from headscope.report.best_heads import ARROWS, chosen_for
from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.declared import StudyCard
from headscope.report.kinds import by_name
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.heads.relations.tables import RELATIONS

HIDDEN = ("untrained", "elsewhere", "others", "gain", "gain_others")
SHOWN = 6


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The larger one of links elsewhere and of other words at one end."""
    elsewhere, others = result["elsewhere"], result["others"]
    return {"link_attention": elsewhere.where(~(others > elsewhere), others)}


def head_kinds(numbers: Numbers) -> list[HeadKind]:
    """Heads that are special for the links of a relation, named after the one with the most attention."""
    result = numbers.result
    attention = result["link_attention"].where(result["special"] == 1).max("direction")
    names = ["links" if name == "all" else name for name in attention["relation"].values]
    return by_name(attention.assign_coords(relation=names), "relation", "link")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The relations for which the head is special, else the relation with the largest gain over the baselines."""
    rows = of_variable(numbers, "link_attention")
    for overall in [row for row in rows if row.labels == ("all", "source_to_target")]:
        yield Finding("All links", f"{_sentence(overall)}.")
    rule = f"at least 0.1 over links elsewhere and other words, q < {RATE}, at least {LEAST_CASES} sentences"
    yield from special_for(result, rows, "Special for links", _sentence, rule, SHOWN)
    if numbers:
        heads = [head for head in chosen_for(result, RELATIONS, numbers[0].layer, numbers[0].head) if head.enough]
        gains = (f"{head.score.text}, gain {head.gain.text}, n = {head.held_out:,}" for head in heads)
        scores = [f"{head.name} ({head.arrow}) {gain}" for head, gain in zip(heads, gains, strict=True)]
        yield from best_head_of(scores[:SHOWN], "the other half of the sentences", "Chosen head of links")
        yield from sink_of_head(result, heads[:SHOWN])


def _sentence(row: Row) -> str:
    relation, direction = row.labels
    beside = beside_baseline(row, "baseline", test=" (sign test and t test over sentences)")
    return f"{relation} ({ARROWS.get(direction, direction)}) {beside}"


CARD = StudyCard(
    hidden=HIDDEN,
    main_numbers=("link_attention.all.source_to_target",),
    baselines=baselines,
    rates={"link_attention": "q_value"},
    sentences=sentences,
)
