"""Findings of an ablation: which heads and layers the score needs, which it can do without, and what is noise."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.figures.tidy import tidy
from headscope.report.parts import Finding
from headscope.report.wording import Reading, examples, listed, measured, number, several, strongest
from headscope.statistics.interval_tests import q_changed, surely

SURE = 0.05


def findings(result: xr.Dataset) -> list[Finding]:
    """What disabling heads came to, by the main metric; gains are positive where the score gets better."""
    metric = str(result["metric"].values[0])
    return [
        *_baseline(result),
        *_best_and_worst(result, metric),
        *_how_many(result, metric),
        *_halves(result, metric),
        *_random(result, metric),
        *_layers(result, metric),
        *_sets(result, metric),
        *_importance(result),
    ]


def _baseline(result: xr.Dataset) -> Iterator[Finding]:
    baseline = measured(result, "baseline")
    if baseline is not None:
        each = [(metric, baseline.sel(metric=metric)) for metric in result["metric"].values.tolist()]
        scores = ", ".join(f"{label('metric', metric)} {_interval(score)}" for metric, score in each)
        yield Finding("With all heads", f"{scores.capitalize()}.{examples(baseline)}")


def _best_and_worst(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    ordered, name, q = strongest(gains), label("metric", metric), _rates(result, metric, gains)
    noise = " Their intervals include no change: on so few examples that is noise." if _unsure(ordered[0]) else ""
    helps, hurts = (surely(q, "heads", each) for each in (gains > 0, gains < 0))
    for topic, what, heads, sure, doubt in (
        ("Helps to disable", "gains", ordered[:3], helps, noise),
        ("Hurts to disable", "losses", ordered[:-4:-1], hurts, ""),
    ):
        beside = f"; {sure}" if sure else ""
        yield Finding(topic, f"Largest {what} of {name}: {listed(heads)}{beside}.{doubt}{examples(gains)}")


def _rates(result: xr.Dataset, metric: str, gains: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate of a change: by McNemar's test for accuracy, else by the intervals."""
    return result["head_q_value"] if metric == "accuracy" and "head_q_value" in result else q_changed(gains)


def _how_many(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "head_gain", metric=metric)
    if gains is None:
        return
    values = gains.values[np.isfinite(gains.values)]
    text = (
        f"Of {values.size} heads {int((values > 0).sum())} raise the score when they are disabled, "
        f"{int((values == 0).sum())} change nothing, {int((values < 0).sum())} lower it."
    )
    if (corrected := measured(result, "head_q_value")) is not None:
        sure = tidy(corrected).query("value < @SURE").sort_values("value").to_dict("records")
        names = ", ".join(head_name(row["layer"], row["head"]) for row in sure)
        text += (
            f" {several(len(sure), 'head')} changes accuracy beyond chance"
            if len(sure) < 2
            else f" {len(sure)} heads change accuracy beyond chance"
        )
        text += f" (McNemar's exact test, corrected for looking at all heads){': ' + names if names else ''}."
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
            f"The best head on the {half} half of the examples, {head}, gains {number(float(there))} there and "
            f"{_interval(chosen)} on the other half{': not confirmed' if float(chosen['lower']) <= 0 else ''}."
        )
        yield Finding(f"Chosen on the {half} half", text)


def _random(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gain = measured(result, "random_head_gain", metric=metric)
    if gain is not None:
        verb = "raises" if float(gain) > 0 else "lowers"
        sure = "which may be chance" if float(gain["lower"]) <= 0 <= float(gain["upper"]) else "beyond chance"
        text = f"On average disabling a head {verb} {label('metric', metric)}: {_interval(gain)}, {sure}."
        yield Finding("A random head", text + examples(gain))


def _layers(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "layer_gain", metric=metric)
    if gains is None:
        return
    said = "; ".join(f"layer {int(layer)}: {_interval(gains.sel(layer=layer))}" for layer in gains["layer"])
    yield Finding("Whole layers", f"Gain with all heads of a layer disabled: {said}.{examples(gains)}")


def _sets(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    gains = measured(result, "set_gain", metric=metric)
    if gains is not None:
        said = "; ".join(f"{name}: {_interval(gains.sel(head_set=name))}" for name in gains["head_set"].values)
        yield Finding("Named sets", f"Gain with them disabled: {said}.{examples(gains)}")


def _importance(result: xr.Dataset) -> Iterator[Finding]:
    metric = str(result["metric"].values[-1])
    found = measured(result, "rank_correlation", metric=metric)
    if found is None:
        return
    said = ", ".join(
        f"{label('estimator', name)} {_interval(found.sel(estimator=name))}" for name in found["estimator"].values
    )
    text = f"Rank correlation of importance by gradient with the exact loss of {label('metric', metric)}: {said}."
    yield Finding("Importance by gradient", text)


def _interval(array: xr.DataArray) -> str:
    text = number(float(array))
    if "lower" not in array.coords or bool(np.isnan(array["lower"])):
        return text
    return f"{text} [{number(float(array['lower']))}, {number(float(array['upper']))}]"


def _unsure(reading: Reading) -> bool:
    return reading.lower is None or reading.lower <= 0
