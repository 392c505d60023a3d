"""The page of `ablate`: heads and layers that the score needs, heads that it does not need, and chance."""

from collections.abc import Hashable, Iterator
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures import bars, heatmap, scatter, with_interval
from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.declared import Part, StudyParts, parts_of
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.shared_findings import one_training, unlearned
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, examples, measured, of_array, rate, sentence_case, several
from headscope.statistics.significance import LOWER_IS_BETTER, RATE
from headscope.studies.size.ablate import beside_single_heads as beside
from headscope.studies.size.ablate.card import CARD, kinds, q_values
from headscope.studies.size.ablate.claims import free_heads, least, needed, phenomena, unconfirmed, worst_layer
from headscope.studies.size.ablate.published import published
from headscope.studies.size.ablate.shortcuts_page import cases, is_of_shortcuts, kept_chart, shortcuts, triggers

HEADS, LAYERS, IMPORTANCE = "Heads disabled one at a time", "Layers disabled", "Importance by gradient"
LEAST_HEADS, MOST_HEADS = 3, 8


def highlights(numbers: Numbers) -> list[Finding]:
    """The named sets, the heads and layers that the task needs, those that it does not, and the held-out gain."""
    if is_of_shortcuts(numbers.result):
        return [*shortcuts(numbers)]
    if lacks := unlearned(numbers.result):
        return [Finding(lacks.topic, lacks.text), *parts_of((sets,), numbers.result)]
    return parts_of(CLAIMS, numbers.result)


def tested(numbers: Numbers) -> list[Finding]:
    """The test of a task that is not learned; what else is claimed of a model whose shortcuts stand first."""
    if lacks := unlearned(numbers.result):
        return [lacks]
    return parts_of(CLAIMS, numbers.result) if is_of_shortcuts(numbers.result) else []


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first where no head or layer has a sure effect."""
    text = "With these examples no head can be shown to matter, and none can be shown to be dispensable."
    return Finding("No head or layer clearly matters", text)


def metrics_of(result: xr.Dataset) -> list[str]:
    """All metrics, the main one first; the last is the loss, which shows finer differences."""
    return result["metric"].values.tolist()


def baseline(numbers: Numbers) -> Iterator[Finding]:
    scores, metrics = numbers.array("baseline"), metrics_of(numbers.result)
    texts = [f"{label('metric', metric)} {of_array(scores.sel(metric=metric)).text}" for metric in metrics]
    yield Finding("With all heads", f"{sentence_case(', '.join(texts))}.{examples(scores)}")
    if numbers.words.get("unit") == "kv":
        yield Finding("Shared keys", "Query heads that share keys are disabled together, and have the same numbers.")


def how_many(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    gains = numbers.array("head_gain", metric=metric)
    values = gains.values[np.isfinite(gains.values)]
    text = (
        f"The score without a head is better for {int((values > 0).sum())} of {values.size} heads, the same for "
        f"{int((values == 0).sum())}, worse for {int((values < 0).sum())}."
    )
    if (corrected := measured(result, "head_q_value")) is not None:
        sure = tidy(corrected).query(f"value < {RATE}").sort_values("value").to_dict("records")
        names = ", ".join(head_name(row["layer"], row["head"]) for row in sure)
        text += (
            f" {several(len(sure), 'head')} changes accuracy beyond chance"
            if len(sure) < 2
            else f" {len(sure)} heads change accuracy beyond chance"
        )
        text += f" (McNemar's exact test, corrected for the number of heads){': ' + names if names else ''}."
    text = f"{text} {least(gains, label('metric', metric))}".rstrip()
    yield Finding("Heads by their effect", text)


def random_head(numbers: Numbers) -> Iterator[Finding]:
    metric = numbers.main_metric
    gain = numbers.array("random_head_gain", metric=metric)
    verb = "improves" if float(gain) > 0 else "worsens"
    sure = "beyond chance" if of_array(gain).is_not(0) else "which may be chance"
    text = f"On average disabling a head {verb} {label('metric', metric)}: {of_array(gain).text}, {sure}."
    yield Finding("A random head", text + examples(gain))


def sets(numbers: Numbers) -> Iterator[Finding]:
    metric = numbers.main_metric
    gains = numbers.array("set_gain", metric=metric)
    texts = "; ".join(f"{name}: {of_array(gains.sel(head_set=name)).text}" for name in gains["head_set"].values)
    yield Finding("Named sets", f"Gain with the heads of a set disabled: {texts}.{examples(gains)}")


def importance(numbers: Numbers) -> Iterator[Finding]:
    metric = metrics_of(numbers.result)[-1]
    correlation = numbers.array("rank_correlation", metric=metric)
    texts = ", ".join(
        f"{label('estimator', name)} {of_array(correlation.sel(estimator=name)).text}"
        for name in correlation["estimator"].values
    )
    text = f"Rank correlation of importance by gradient with the measured loss of {label('metric', metric)}: {texts}."
    yield Finding("Importance by gradient", text)
    yield one_training()


def head_charts(numbers: Numbers) -> Iterator[Figure]:
    result = numbers.result
    caption = "Above 0 where the score is better without the head. After Kovaleva et al. (2019), Figure 8."
    for metric in dict.fromkeys((metrics_of(result)[0], metrics_of(result)[-1])):
        gains = _gains(result, "head_gain", metric)
        yield Figure(f"head_gain-{metric}", HEADS, heatmap(gains, diverging=True), caption, "head_gain")


def layer_charts(numbers: Numbers) -> Iterator[Figure]:
    result = numbers.result
    for metric in dict.fromkeys((metrics_of(result)[0], metrics_of(result)[-1])):
        gains = _gains(result, "layer_gain", metric)
        named = gains.assign_coords(layer=[f"layer {number}" for number in gains["layer"].values])
        caption = "All heads of a layer are disabled together; 95% intervals over examples."
        yield Figure(f"layer_gain-{metric}", LAYERS, bars(named), caption, "layer_gain")


def _gains(result: xr.Dataset, name: str, metric: str) -> xr.DataArray:
    """Gains of one metric, with its name in the title."""
    gains = with_interval(result, name).sel(metric=metric, drop=True)
    title = str(gains.attrs["long_name"]).replace("score", label("metric", metric))
    return gains.assign_attrs(long_name=title)


def importance_charts(numbers: Numbers) -> Iterator[Figure]:
    result, metric = numbers.result, metrics_of(numbers.result)[-1]
    numbers.array("importance")
    gains, name = result["head_gain"].sel(metric=metric, drop=True), label("metric", metric)
    for estimator in result["estimator"].values.tolist():
        both = xr.concat([result["importance"].sel(estimator=estimator, drop=True), gains], "axis").rename("importance")
        importance = f"Importance, {label('estimator', estimator)}"
        both = both.assign_attrs(long_name=f"{importance}, and gain of {name}")
        chart = scatter(both, titles=(importance, f"Gain of {name}"))
        caption = f"A dot for each head: its importance, and the gain of {name} without it."
        yield Figure(f"importance-{estimator}", IMPORTANCE, chart, caption, "importance")


def lost_layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """What the main metric loses with all heads of a layer disabled, below 0 where it is better without them."""
    result, metric = numbers.result, numbers.main_metric
    array = numbers.array("layer_gain", metric=metric)
    task = result.attrs.get("task", result.attrs["corpus"])
    words = f"{label('metric', metric)} on {task}, lost without the layer"
    lost = (-array).assign_coords(lower=-array["upper"], upper=-array["lower"])
    yield LayerNumber("Layers that a task needs", words, lost, is_share=False, is_needed=True)


def head_table(numbers: Numbers) -> Table:
    """The heads without which the main metric is lowest."""
    metric = numbers.main_metric
    gains = numbers.array("head_gain", metric=metric)
    ordered = _tested(gains, q_values(numbers.result, metric, gains)).sort_values("value")
    losses = int((ordered["value"].to_numpy() < 0).sum())
    lowest = ordered.head(min(MOST_HEADS, max(LEAST_HEADS, losses)))
    rows = [(head_name(row["layer"], row["head"]), _cells(row)) for row in lowest.to_dict("records")]
    return _table("heads", metric, "Head", rows)


def layer_table(numbers: Numbers) -> Table:
    """The change of the main metric without all heads of each layer."""
    metric = numbers.main_metric
    q = numbers.result.get("layer_q_value") if metric == "accuracy" else None
    rows = _tested(numbers.array("layer_gain", metric=metric), q).to_dict("records")
    return _table("layers", metric, "Layer", [(str(int(row["layer"])), _cells(row)) for row in rows])


def _tested(gains: xr.DataArray, q: xr.DataArray | None) -> pd.DataFrame:
    """Rows of gains with their intervals and false discovery rates, NaN where there is no test."""
    values = np.full(gains.shape, np.nan) if q is None else q.transpose(*gains.dims).values
    frame = gains.assign_coords(q=(gains.dims, values)).to_dataframe("value").reset_index()
    return frame.dropna(subset=["value"])


def _table(name: str, metric: str, key: str, rows: list) -> Table:
    which = {"Head": "a head: the largest losses", "Layer": "all heads of a layer"}[key]
    change = f"Change of {label('metric', metric)}"
    change = f"{label('metric', metric).capitalize()} is lower by" if metric in LOWER_IS_BETTER else change
    caption = f"{change} without {which}. q: false discovery rate among all {name}."
    return titled(name, caption, key, (change, "95% interval", "q"), rows)


def _cells(row: dict[Hashable, Any]) -> Cells:
    value, interval = Estimate(row["value"], row["lower"], row["upper"]).cell("+.3f")
    return [(value, ""), (interval, ""), None if isnan(row["q"]) else (rate(row["q"]), "")]


BESIDE: tuple[Part, ...] = (beside.special, beside.pairs, beside.one_head, beside.across_tasks, beside.gates)
CLAIMS: tuple[Part, ...] = (sets, needed, free_heads, worst_layer, phenomena, unconfirmed, *BESIDE, triggers)
PAGE = StudyParts(
    highlights=(highlights,),
    findings=(tested, baseline, how_many, random_head, importance),
    charts=(cases, head_charts, layer_charts, importance_charts, kept_chart),
    tables=(head_table, layer_table, beside.special_table, beside.pair_table, beside.layer_table, published),
    by_layer=(),
    layers=(lost_layers,),
    kinds=(kinds,),
    card=CARD,
    no_claim=no_claim,
)
