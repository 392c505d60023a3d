"""The share of antecedents that a head finds, beside nearest and head match (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.best_head_parts import beside_baseline, best_head_of, sink_of_head
from headscope.report.best_heads import chosen_for
from headscope.report.cards.head_numbers import Row, of_labels, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import by_name
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.wording import number, rate
from headscope.statistics.significance import LEAST_CASES, RATE, is_special
from headscope.studies.heads.coreference.tables import KINDS

GAPS = {"attention_gap": "Stereotypes in attention", "preference_gap": "Stereotypes in preference"}
WORDS = {"all": "antecedent", "pronoun": "pronoun", "proper": "name", "nominal": "noun phrase"}


def baselines(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The better one of nearest and head match, by kind of mention; of confusion that of a uniform choice."""
    uniform = {"confusion": result["uniform_confusion"]} if "confusion" in result else {}
    return {"accuracy": result["baseline_accuracy"].sel(baseline=["nearest", "head_match"]).max("baseline")} | uniform


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """False discovery rates of the tests against the baseline and for a gap, each corrected for all heads."""
    gaps = {name: result[f"{name}_q"] for name in GAPS if name in result}
    return {"accuracy": result["q_value"]} | gaps


def head_kinds(numbers: Numbers) -> list[HeadKind]:
    """Heads that are special for a kind of mention, named after the one with the highest accuracy."""
    accuracy = numbers.result["accuracy"].where(numbers.result["special"] == 1)
    words = [WORDS.get(str(name), str(name)) for name in accuracy["mention_type"].values]
    return by_name(accuracy.assign_coords(mention_type=words), "mention_type", "coreference")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The share of antecedents by kind of mention, the kinds that chose the head, and the effect of gender."""
    rows = of_variable(numbers, "accuracy")
    if rows:
        scores = "; ".join(f"{row.words} {beside_baseline(row, 'baseline')}" for row in rows)
        special = [row.words for row in rows if is_special(row.value - row.baseline, row.q, row.n)]
        rule = f"at least 10 points over nearest and head match, q < {RATE}, at least {LEAST_CASES} mentions"
        yield Finding("Antecedents", f"{scores}. Special for: {', '.join(special) or 'none'} ({rule}).")
    if numbers:
        heads = chosen_for(result, KINDS, numbers[0].layer, numbers[0].head)
        scores = [f"{kind.name} {kind.score.percent}, n = {kind.held_out:,}" for kind in heads]
        yield from best_head_of(scores, "the other half of the documents")
        yield from sink_of_head(result, heads)
    if (row := of_labels(numbers, "confusion", "all")) is not None:
        text = f"Entropy over the candidates {value(row)} bits ({ranked(row)}); a uniform choice has"
        yield Finding("Confusion", f"{text} {number(row.baseline)}; n = {int(row.n):,} questions.")
    for name, topic in GAPS.items():
        for row in of_variable(numbers, name):
            yield Finding(topic, f"Pro sentences minus anti sentences: {value(row)} ({ranked(row)}), q {rate(row.q)}.")


CARD = StudyCard(
    hidden=("special",), main_numbers=("accuracy.all", *GAPS), baselines=baselines, rates=rates, sentences=sentences
)
