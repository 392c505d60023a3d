"""The change of the score without a head, and its importance (Kovaleva et al. 2019, 4.6; Michel et al. 2019)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import by_name, where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.shared_findings import least_found, unlearned
from headscope.report.wording import Estimate, estimate, measured, number, rate, several
from headscope.statistics.significance import RATE, q_changed

HIDDEN = ("head_score", "importance_normalised")


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The gain by the main metric, and importance by the first estimator."""
    importance = [f"importance.{name}" for name in result.get("estimator", xr.DataArray([])).values.tolist()[:1]]
    return (f"head_gain.{result['metric'].values[0]}", *importance)


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """McNemar's test, which is of accuracy alone, corrected for all heads."""
    if "head_q_value" not in result:
        return {}
    by_phenomenon = {"phenomenon_gain": result["phenomenon_q_value"]} if "phenomenon_q_value" in result else {}
    return {"head_gain": result["head_q_value"].expand_dims(metric=["accuracy"])} | by_phenomenon


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The change of each metric, and whether it is more than noise."""
    gains, lacks = of_variable(numbers, "head_gain"), unlearned(result)
    if lacks:
        yield Finding(lacks.topic, lacks.text)
    elif gains:
        metrics = ", ".join(
            f"{label('metric', name)} {number(float(result['baseline'].sel(metric=name)))}"
            for name in result["metric"].values.tolist()
        )
        texts = "; ".join(
            f"{row.words} {Estimate(row.value, row.lower, row.upper).signed} ({ranked(row)})" for row in gains
        )
        text = f"Gain of {texts}; {cases(gains[0])}. With all heads: {metrics}.{_sure(gains)}"
        yield Finding("Without it", f"{text} {_least(result, gains[0])}".rstrip())
    if not lacks:
        yield from _needed(result, numbers)
        if gains:
            yield from together(result, gains[0].layer, gains[0].head)
    if importance := of_variable(numbers, "importance"):
        texts = [f"{row.words} {value(row)} ({ranked(row)})" for row in importance]
        yield Finding("Importance by gradient", f"{'; '.join(filter(None, [*texts, cases(importance[0])]))}.")


def _needed(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The phenomena that need the head: their accuracy is lower without it."""
    gains = of_variable(numbers, "phenomenon_gain")
    if not gains:
        return
    lost = sorted((row for row in gains if row.value < 0 and row.q < RATE), key=lambda row: row.value)
    texts = "; ".join(
        f"{row.words} {Estimate(row.value, row.lower, row.upper).points} (q {rate(row.q)})" for row in lost
    )
    scope = f"of the {len(gains)} phenomena of {result.attrs['task']}"
    words = f"Change of accuracy without it, in points: {texts}; {len(lost)} {scope}." if lost else f"None {scope}."
    yield Finding("Needed for", words)


def _sure(gains: list[Row]) -> str:
    tested = [row for row in gains if not pd.isna(row.q)]
    if not tested:
        unchanged = all(row.lower <= 0 <= row.upper for row in gains if not pd.isna(row.lower))
        return " All intervals include 0." if unchanged else " No test corrects for all heads."
    sure = "changes beyond chance" if tested[0].q < RATE else "does not change beyond chance"
    test = f"McNemar's exact test, corrected for {tested[0].heads} heads: q {rate(tested[0].q)}"
    return f" {tested[0].words.capitalize()} {sure} ({test})."


def _least(result: xr.Dataset, gain: Row) -> str:
    """The smallest fall that would have been found for a head whose change is not beyond chance."""
    name = str(result["metric"].values[0])
    if pd.isna(gain.n) or gain.q < RATE or (pd.isna(gain.q) and not gain.lower <= 0 <= gain.upper):
        return ""
    change = xr.DataArray(gain.value, {"lower": gain.lower, "upper": gain.upper})
    return least_found(change, label("metric", name), int(gain.n), gain.heads)


def together(result: xr.Dataset, layer: int, head: int) -> Iterator[Finding]:
    """The pair with the head that loses most beyond the sum, and whether halves of the examples choose it alone."""
    metric = str(result["metric"].values[0])
    yield from _pairs(result, metric, layer, head)
    yield from _alone(result, metric, layer, head)


def _pairs(result: xr.Dataset, metric: str, layer: int, head: int) -> Iterator[Finding]:
    excess = measured(result, "pair_excess", metric=metric)
    named = [] if excess is None else excess["head_pair"].values.tolist()
    mine = [pair for pair in named if {head_name(layer, head), f"{layer}-*"} & set(pair.split(","))]
    if excess is None or not mine:
        return
    pairs, q = excess.sel(head_pair=mine), result["pair_q_value"].sel(metric=metric, head_pair=mine)
    sure = int(((q < RATE) & (pairs["lower"] > 0)).sum())
    most = mine[int(pairs.fillna(float("-inf")).argmax("head_pair"))]
    beyond = estimate(result, "pair_excess", head_pair=most, metric=metric)
    yield Finding(
        "Replaced by another head",
        f"{sure} of {several(len(mine), 'pair')} with it clearly lose more {label('metric', metric)} together than "
        "each "
        f"head alone (q < {RATE}, corrected over {several(len(named), 'pair')}). Most beyond the sum: heads "
        f"{most.replace(',', ' and ')}, {beyond.signed} (q {rate(float(q.sel(head_pair=most)))}).",
    )


def _alone(result: xr.Dataset, metric: str, layer: int, head: int) -> Iterator[Finding]:
    if "one_head" not in result:
        return
    chosen = result["one_head"].sel(layer=layer, metric=metric).values.tolist()
    if times := chosen.count(head):
        gain = estimate(result, "one_head_gain", layer=layer, metric=metric)
        halves = "both halves" if times == len(chosen) else "one half"
        yield Finding(
            "As the only head of its layer",
            f"It is the best one by {halves} of the examples. With the head that each half chose, "
            f"{label('metric', metric)} of the other half changes by {gain.signed}.",
        )


def kinds(numbers: Numbers) -> Iterator[HeadKind]:
    """A lower score by the first metric without the head, or a lower accuracy of a phenomenon, q < 0.05."""
    result = numbers.result
    if unlearned(result):
        return
    metric = numbers.main_metric
    gains = numbers.array("head_gain", metric=metric)
    if (q := q_values(result, metric, gains)) is not None:
        yield from where_true((gains < 0) & (q < RATE), "needed", "needed")
    loss = -numbers.array("phenomenon_gain")
    yield from by_name(loss.where((loss > 0) & (result["phenomenon_q_value"] < RATE)), "phenomenon", "needed")


def q_values(result: xr.Dataset, metric: str, gains: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate of a change: by McNemar's test for accuracy, else by the intervals."""
    return result["head_q_value"] if metric == "accuracy" and "head_q_value" in result else q_changed(gains)


CARD = StudyCard(hidden=HIDDEN, main_numbers=main_numbers, rates=rates, sentences=sentences)
