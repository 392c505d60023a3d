"""The relations of a head beside the best fixed word (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, with_interval
from headscope.report.best_head_parts import beside_baseline, best_head_of, sink_of_head, special_for
from headscope.report.best_heads import ARROWS, ChosenHead, chosen_for
from headscope.report.cards.head_numbers import Row, of_variable
from headscope.report.declared import StudyCard
from headscope.report.kinds import by_name
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, HeadKind
from headscope.report.wording import number
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.heads.syntax.tables import RELATIONS, as_coded, baseline, judged_on, with_fixed_words

SHOWN = 8


def kinds(numbers: Numbers) -> list[HeadKind]:
    """Heads that are special for a relation, named after the one with the largest gain over its fixed word."""
    result = numbers.result
    special = (result["special"] == 1) & (result["relation"] != "all")
    gain = (result["accuracy"] - result["baseline"]).where(special).max("direction")
    return by_name(gain, "relation", "relation")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The relations for which the head is special, else the nearest; then the relations that it was chosen for."""
    rows = [row for row in of_variable(numbers, "accuracy") if "all" not in row.labels]
    rule = f"at least 10 points over the best fixed word {judged_on(result)}, q < {RATE}, at least {LEAST_CASES} words"
    yield from special_for(
        result, rows, "Special for", lambda row: f"{row.words} {beside_baseline(row, 'best fixed word')}", rule, SHOWN
    )
    if numbers:
        heads = chosen_for(with_fixed_words(result), RELATIONS, numbers[0].layer, numbers[0].head)
        frequent = sorted((head for head in heads if head.enough), key=lambda head: -head.gain.value)
        where = "the same sentences" if as_coded(result) else "the other half of the sentences"
        yield from best_head_of([_scores(head) for head in frequent], where)
        yield from sink_of_head(result, [head for head in frequent if head.labels["relation"] != "all"][:SHOWN])


def _scores(relation: ChosenHead) -> str:
    return (
        f"{relation.name} ({relation.arrow}) {relation.score.text}, fixed word ({relation.reference}) has "
        f"{number(baseline(relation).value)}, n = {relation.held_out:,} words"
    )


def figures(result: xr.Dataset, layer: int, head: int) -> Iterator[Figure]:
    """Its best relations beside the fixed word."""
    part = result.sel(layer=layer, head=head, relation=result["accuracy_n_examples"] >= LEAST_CASES)
    part = part.sel(relation=part["relation"] != "all")
    if not part.sizes["relation"]:
        return
    stacked = part[["accuracy", "accuracy_ci", "baseline", "baseline_ci"]].stack(row=("relation", "direction"))
    stacked = stacked.isel(row=(stacked["baseline"] - stacked["accuracy"]).argsort().values[:SHOWN])
    names = [f"{relation}, {ARROWS[direction]}" for relation, direction in stacked["row"].values.tolist()]
    parts = [with_interval(stacked, name).rename("accuracy") for name in ("accuracy", "baseline")]
    both = xr.concat(parts, xr.Variable("which", ["this head", "best fixed word"])).transpose("row", "which")
    both = both.drop_vars(["row", "relation", "direction"]).assign_coords(row=names).rename("accuracy", row="relation")
    attrs = {"long_name": "words whose syntactic head is picked", "units": "share of words"}
    caption = "The relations in which the head is furthest above the best fixed word, with 95% intervals."
    yield Figure("relations", "Relations", bars(both.assign_attrs(attrs)), caption, "accuracy")


# The best fixed word of each relation, and the test against it, corrected for all heads, relations and directions.
BASELINES, RATES = {"accuracy": "baseline"}, {"accuracy": "q_value"}
CARD = StudyCard(main_numbers=("accuracy.all",), baselines=BASELINES, rates=RATES, sentences=sentences, figures=figures)
