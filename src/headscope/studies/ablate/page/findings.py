"""Findings of an ablation: heads and layers that the score needs, heads that it does not need, and chance."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.parts import Finding
from headscope.report.shared_findings import one_training, unlearned
from headscope.report.wording import (
    examples,
    listed,
    measured,
    number,
    of_array,
    several,
    spread,
    strongest,
)
from headscope.statistics.interval_tests import surely
from headscope.statistics.significance import RATE
from headscope.studies.ablate.page import perturbed, shortcuts
from headscope.studies.ablate.page.beside_single_heads import beside_heads
from headscope.studies.ablate.page.card import q_values
from headscope.studies.ablate.page.claims import claims, least


def highlights(result: xr.Dataset) -> list[Finding]:
    """The named sets, the heads and layers that the task needs, those that it does not, and the held-out gain."""
    metric = str(result["metric"].values[0])
    if shortcuts.is_of_shortcuts(result):
        return [*shortcuts.findings(result)]
    if lacks := unlearned(result):
        return [Finding(lacks.topic, lacks.text), *_sets(result, metric), *_baseline(result)]
    return [*_sets(result, metric), *claims(result, metric), *beside_heads(result, metric)]


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first where no head or layer has a sure effect."""
    return Finding("No effect of a head or layer is sure", "That heads can be disabled is not shown either.")


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings by the main metric; gains are positive where the score gets better."""
    metric = str(result["metric"].values[0])
    lacks = unlearned(result)
    return [
        *shortcuts.findings(result),
        *([lacks] if lacks else [*claims(result, metric), *beside_heads(result, metric)]),
        *_baseline(result),
        *_best_and_worst(result, metric),
        *_how_many(result, metric),
        *_halves(result, metric),
        *_random(result, metric),
        *_layers(result, metric),
        *_sets(result, metric),
        *_importance(result),
        *perturbed.findings(result),
    ]


def _baseline(result: xr.Dataset) -> Iterator[Finding]:
    baseline = measured(result, "baseline")
    if baseline is not None:
        baselines = [(metric, baseline.sel(metric=metric)) for metric in result["metric"].values.tolist()]
        scores = ", ".join(f"{label('metric', metric)} {of_array(score).text}" for metric, score in baselines)
        yield Finding("With all heads", f"{scores.capitalize()}.{examples(baseline)}")


def _best_and_worst(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    name, q = label("metric", metric), q_values(result, metric, gains)
    for topic, kind, side in (
        ("Gains without a head", "gains", gains > 0),
        ("Losses without a head", "losses", gains < 0),
    ):
        some, sure = gains.where(side), surely(q, "heads", side)
        there = f"{several(int(side.sum()), 'head')}, {spread(some)}" if bool(side.any()) else "no head"
        beyond = [] if q is None else [head for head in strongest(some.where(q < RATE)) if head.value == head.value]
        named = f": {listed(beyond if kind == 'gains' else beyond[::-1])}" if beyond else ""
        yield Finding(
            topic, f"{kind.capitalize()} of {name}: {there}{f'; {sure}' if sure else ''}{named}.{examples(gains)}"
        )


def _how_many(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    values = gains.values[np.isfinite(gains.values)]
    text = (
        f"The score without a head is higher for {int((values > 0).sum())} of {values.size} heads, the same for "
        f"{int((values == 0).sum())}, lower for {int((values < 0).sum())}."
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


def _halves(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    if "chosen_gain" not in result:
        return
    for half in result["half"].values.tolist():
        chosen, there = (measured(result, name, half=half, metric=metric) for name in ("chosen_gain", "choosing_gain"))
        if chosen is None or there is None:
            continue
        head = str(result["chosen_head"].sel(half=half, metric=metric).item())
        text = (
            f"Head {head}, chosen by its gain on the {half} half of the examples, {number(float(there))}. On the other "
            f"half it gains {of_array(chosen).text}{': not confirmed' if float(chosen['lower']) <= 0 else ''}."
        )
        yield Finding(f"Chosen on the {half} half", text)


def _random(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gain = measured(result, "random_head_gain", metric=metric)
    if gain is not None:
        verb = "raises" if float(gain) > 0 else "lowers"
        sure = "beyond chance" if of_array(gain).is_not(0) else "which may be chance"
        text = f"On average disabling a head {verb} {label('metric', metric)}: {of_array(gain).text}, {sure}."
        yield Finding("A random head", text + examples(gain))


def _layers(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "layer_gain", metric=metric)
    if gains is None:
        return
    texts = "; ".join(f"layer {int(layer)}: {of_array(gains.sel(layer=layer)).text}" for layer in gains["layer"])
    yield Finding("Whole layers", f"Gain with all heads of a layer disabled: {texts}.{examples(gains)}")


def _sets(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "set_gain", metric=metric)
    if gains is not None:
        texts = "; ".join(f"{name}: {of_array(gains.sel(head_set=name)).text}" for name in gains["head_set"].values)
        yield Finding("Named sets", f"Gain with the heads of a set disabled: {texts}.{examples(gains)}")


def _importance(result: xr.Dataset) -> Iterator[Finding]:
    metric = str(result["metric"].values[-1])
    correlation = measured(result, "rank_correlation", metric=metric)
    if correlation is None:
        return
    texts = ", ".join(
        f"{label('estimator', name)} {of_array(correlation.sel(estimator=name)).text}"
        for name in correlation["estimator"].values
    )
    text = f"Rank correlation of importance by gradient with the measured loss of {label('metric', metric)}: {texts}."
    yield Finding("Importance by gradient", text)
    yield one_training()
