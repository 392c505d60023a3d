"""Findings of an ablation: heads and layers that the score needs, heads that it does not need, and chance."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.least_found import least_found
from headscope.report.parts import Finding
from headscope.report.wording import (
    estimate,
    examples,
    listed,
    measured,
    n_examples,
    number,
    of_array,
    several,
    strongest,
)
from headscope.statistics.interval_tests import surely
from headscope.statistics.thresholds import RATE
from headscope.studies.ablate.page.card import q_values

MOST = 4


def highlights(result: xr.Dataset) -> list[Finding]:
    """The named sets, the heads that matter by the main metric, the best and the worst layer."""
    metric = str(result["metric"].values[0])
    return [
        *_sets(result, metric),
        *_needed(result, metric),
        *_free(result, metric),
        *_worst_layer(result, metric),
        *_phenomena(result),
        *_unconfirmed(result, metric),
    ]


def _needed(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    q, worst = q_values(result, metric, gains), strongest(gains)[-1]
    sure = 0 if q is None else int(((q < RATE) & (gains < 0)).sum())
    name = label("metric", metric)
    chance = "more than chance explains" if sure else "which may be chance"
    text = f"Without head {worst.head} {name} falls the most, by {number(-worst.value)}, {chance}."
    if worst.value >= 0:
        text = f"Without any single head {name} is as high or higher."
    yield Finding(f"The task needs {several(sure, 'head')}" if sure else "The task needs no single head for sure", text)


def _free(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is not None:
        free, total, name = int((gains >= 0).sum()), int(gains.notnull().sum()), label("metric", metric)
        text = f"Disabled one at a time, each leaves {name} as it is or higher. {_least(gains, name)}"
        yield Finding(f"{free} of {total} heads can be disabled", text.rstrip())


def _least(gains: xr.DataArray, metric: str) -> str:
    """The smallest fall that the examples would have shown of one head among all."""
    counts = n_examples(gains)
    return least_found(gains, metric, counts[1], int(gains.notnull().sum())) if counts else ""


def _worst_layer(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "layer_gain", metric=metric)
    if gains is not None:
        worst = gains.dropna("layer")[gains.dropna("layer").argmin("layer")]
        name, layer = label("metric", metric), int(worst["layer"])
        if float(worst) < 0:
            yield Finding(f"Layer {layer} matters most", f"Without its heads {name} falls by {number(-float(worst))}.")
        else:
            yield Finding("No layer matters alone", f"Without the heads of any layer {name} is as high or higher.")


def _phenomena(result: xr.Dataset) -> Iterator[Finding]:
    """The head that each phenomenon needs most, and whether that is more than chance."""
    gains, q = measured(result, "phenomenon_gain"), measured(result, "phenomenon_q_value")
    if gains is None or q is None:
        return
    texts, sure = [], 0
    for phenomenon in gains["phenomenon"].values.tolist():
        own = gains.sel(phenomenon=phenomenon, drop=True)
        needed = strongest(own.where((q.sel(phenomenon=phenomenon) < RATE) & (own < 0)))
        heads = [reading for reading in needed[::-1] if reading.value == reading.value]
        baseline = estimate(result, "phenomenon_baseline", phenomenon=phenomenon).percent
        sure += bool(heads)
        texts.append(f"{phenomenon} ({baseline}): {', '.join(each.head for each in heads[:MOST]) or 'none'}")
    topic = f"{sure} of {gains.sizes['phenomenon']} phenomena need a single head beyond chance"
    yield Finding(topic, f"Accuracy with all heads, and heads without which it falls: {'; '.join(texts)}.")


def _unconfirmed(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    """The held-out gain of the head with the largest gain on one half of the examples."""
    if "chosen_gain" in result:
        chosen = measured(result, "chosen_gain", metric=metric)
        if chosen is not None:
            kept = int((chosen["lower"] > 0).sum())
            sure = kept == chosen.size
            topic = "Disabling a head helps" if sure else "No gain by disabling a head is confirmed"
            half = "confirms the gain" if sure else "does not confirm the gain"
            text = f"The head with the largest gain was chosen on one half of the examples; the other half {half}."
            yield Finding(topic, text)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings by the main metric; gains are positive where the score gets better."""
    metric = str(result["metric"].values[0])
    return [
        *_baseline(result),
        *_best_and_worst(result, metric),
        *_how_many(result, metric),
        *_halves(result, metric),
        *_random(result, metric),
        *_phenomena(result),
        *_layers(result, metric),
        *_sets(result, metric),
        *_importance(result),
    ]


def _baseline(result: xr.Dataset) -> Iterator[Finding]:
    baseline = measured(result, "baseline")
    if baseline is not None:
        each = [(metric, baseline.sel(metric=metric)) for metric in result["metric"].values.tolist()]
        scores = ", ".join(f"{label('metric', metric)} {of_array(score).text}" for metric, score in each)
        yield Finding("With all heads", f"{scores.capitalize()}.{examples(baseline)}")


def _best_and_worst(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    ordered, name, q = strongest(gains), label("metric", metric), q_values(result, metric, gains)
    unsure = not ordered[0].estimate.lower > 0
    noise = " The interval of the largest gain includes 0: it may be chance." if unsure else ""
    helps, hurts = (surely(q, "heads", each) for each in (gains > 0, gains < 0))
    for topic, kind, heads, sure, doubt in (
        ("Helps to disable", "gains", ordered[:3], helps, noise),
        ("Hurts to disable", "losses", ordered[:-4:-1], hurts, ""),
    ):
        beside = f"; {sure}" if sure else ""
        yield Finding(topic, f"Largest {kind} of {name}: {listed(heads)}{beside}.{doubt}{examples(gains)}")


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
        sure = tidy(corrected).query("value < @RATE").sort_values("value").to_dict("records")
        names = ", ".join(head_name(row["layer"], row["head"]) for row in sure)
        text += (
            f" {several(len(sure), 'head')} changes accuracy beyond chance"
            if len(sure) < 2
            else f" {len(sure)} heads change accuracy beyond chance"
        )
        text += f" (McNemar's exact test, corrected for the number of heads){': ' + names if names else ''}."
    text = f"{text} {_least(gains, label('metric', metric))}".rstrip()
    yield Finding("How many matter", text)


def _halves(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    if "chosen_gain" not in result:
        return
    for half in result["half"].values.tolist():
        chosen, there = (measured(result, name, half=half, metric=metric) for name in ("chosen_gain", "choosing_gain"))
        if chosen is None or there is None:
            continue
        head = str(result["chosen_head"].sel(half=half, metric=metric).item())
        text = (
            f"Head {head} has the largest gain on the {half} half of the examples, {number(float(there))}. On the "
            f"other half it gains {of_array(chosen).text}{': not confirmed' if float(chosen['lower']) <= 0 else ''}."
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
