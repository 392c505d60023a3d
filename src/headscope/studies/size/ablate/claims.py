"""Claims of an ablation: what the score needs, what it is shown not to need, and a confirmed gain."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log, nan

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import label
from headscope.report.claims import POINT, Claim, above, apart, examples_wanted, no_worse, tied
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.shared_findings import least_found
from headscope.report.wording import layers_named, n_examples, number, of_array, several, strongest
from headscope.statistics.significance import RATE, corrected, q_changed, q_no_worse
from headscope.studies.size.ablate.card import q_values

MOST_HEADS_NAMED = 4
# Of these few changed answers of a rare class make a large difference: others count the heads.
OF_CLASSES = ("f1", "macro_f1", "matthews")


def needed(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    gains = numbers.array("head_gain", metric=metric)
    q, worst, name = q_values(result, metric, gains), strongest(gains)[-1], label("metric", metric)
    sure = _lost(gains, q)
    count = int(sure.sum())
    text = f"Without head {worst.head} {name} is worse by {number(-worst.value)}, the most."
    if worst.value >= 0:
        text = f"Without any single head {name} is as good or better."
    none = "No single head is shown to be needed"
    yield Finding.judged(
        _loss(gains, q),
        text if count else f"{text} {least(gains, name)}".rstrip(),
        holds=f"The task needs {several(count, 'head')}",
        fails=none,
        undecided=none,
        unit="",
    )


def _lost(gains: xr.DataArray, q: xr.DataArray | None) -> xr.DataArray:
    """Where the score is surely lower, by the corrected test and by the interval."""
    below = xr.zeros_like(gains, bool) if "upper" not in gains.coords else gains["upper"] < 0
    return below if q is None else below & (q < RATE)


def _loss(gains: xr.DataArray, q: xr.DataArray | None) -> Claim:
    """The largest of the sure losses, or of all where none is sure, as a claim that it is above 0."""
    sure = _lost(gains, q)
    flat = gains.stack(place=gains.dims)
    among = flat.where(sure.stack(place=gains.dims)) if bool(sure.any()) else flat
    first = {"place": int(among.fillna(np.inf).argmin("place"))}
    rate = nan if q is None else float(q.transpose(*gains.dims).stack(place=gains.dims)[first])
    return above(-of_array(flat[first]), 0.0, (n_examples(flat[first]) or (0, 0))[0], rate)


def free_heads(numbers: Numbers) -> Iterator[Finding]:
    """The heads whose loss is shown to be below a point, by a metric that a few changed answers hardly move."""
    result = numbers.result
    metric = next((name for name in result["metric"].values.tolist() if name not in OF_CLASSES), None)
    if metric is None:
        return
    gains = numbers.array("head_gain", metric=metric)
    n, name = (n_examples(gains) or (0, 0))[0], label("metric", str(metric))
    q, flat, total = q_no_worse(gains, POINT, n, of_answers=metric == "accuracy"), _flat(gains), int(gains.count())
    rates = None if q is None else _flat(q)
    free = 0 if rates is None else int(((rates < RATE) & (flat["lower"] > -POINT)).sum())
    first = 0 if rates is None else int(rates.where(flat["lower"] > -POINT).fillna(np.inf).argmin("place"))
    claim = no_worse(of_array(flat[first]), POINT, n)
    claim = claim if rates is None else replace(claim, q=float(rates[first]))
    text = f"Disabled one at a time, each clearly costs less than {number(POINT)} of {name} "
    text += "(no test without intervals)." if q is None else f"({corrected(q, 'heads')})."
    if not free:
        text = f"For no head can a loss of {number(POINT)} of {name} be ruled out. {_wanted(gains, total)}"
    yield Finding.judged(
        claim,
        text.rstrip(),
        holds=f"{free} of {total} heads can be disabled for less than {number(POINT)} of {name}",
        fails="No head can be called dispensable",
        undecided="No head can be called dispensable",
        unit="",
    )


def _flat(array: xr.DataArray) -> xr.DataArray:
    """The heads in a row, without those that a layer does not have."""
    return array.stack(place=("layer", "head")).dropna("place")


def _wanted(gains: xr.DataArray, tests: int) -> str:
    """How many examples would tell of the head with the median effect, at the level of the first of many tests."""
    flat = _flat(gains)
    middle = flat[int(abs(flat - flat.median()).argmin("place"))]
    claim = no_worse(of_array(middle), POINT, (n_examples(gains) or (0, 0))[0])
    wanted = examples_wanted(claim)
    if claim.difference.value <= 0:
        return ""
    if wanted is None:
        return "These examples are too few to say how many would settle this for the median head."
    wanted = ceil(max(wanted * (norm.isf(RATE / tests) / norm.isf(0.025)) ** 2, -log(RATE / tests) / POINT))
    return f"About {wanted:,} test examples would settle this for the median head (there are {claim.n:,})."


def least(gains: xr.DataArray, metric: str) -> str:
    """The smallest fall that the examples would have shown of one head among all."""
    counts = n_examples(gains)
    return least_found(gains, metric, counts[1], int(gains.notnull().sum())) if counts else ""


def worst_layer(numbers: Numbers) -> Iterator[Finding]:
    result, metric = numbers.result, numbers.main_metric
    gains = numbers.array("layer_gain", metric=metric)
    losses = {int(part["layer"]): -of_array(part) for part in gains.dropna("layer")}
    worst = max(losses, key=lambda layer: losses[layer].value)
    name, loss, n = label("metric", metric), losses[worst], (n_examples(gains) or (0, 0))[0]
    q = result.get("layer_q_value") if metric == "accuracy" else q_changed(gains)
    fall = _loss(gains, q)
    if loss.value <= 0:
        text = f"Without the heads of any layer {name} is as good or better. This is no test that none is needed."
        yield Finding("No layer without whose heads the score is worse", text)
    elif fall.verdict != "holds" or len(losses) == 1:
        chance = "" if fall.verdict == "holds" else ", which may be chance"
        none = "No layer alone is shown to be needed"
        yield Finding.judged(
            fall,
            f"Without the heads of layer {worst} {name} is worse by {loss.text}{chance}.",
            holds=f"The task needs layer {worst}",
            fails=none,
            undecided=none,
            unit="examples",
        )
    else:
        second = max((layer for layer in losses if layer != worst), key=lambda layer: losses[layer].value)
        alike = layers_named(sorted({*tied(losses), second})).capitalize()
        yield Finding.judged(
            apart(loss, losses[second], n, least=0),
            f"Without the heads of layer {worst} {name} is worse by {loss.text}, without layer {second} by "
            f"{losses[second].text}.",
            holds=f"Layer {worst} matters most",
            fails=f"{alike} cannot be told apart",
            undecided=f"{alike} cannot be told apart",
            unit="examples",
        )


def phenomena(numbers: Numbers) -> Iterator[Finding]:
    """The head that each phenomenon needs most, and whether that is more than chance."""
    gains, q = numbers.array("phenomenon_gain"), numbers.array("phenomenon_q_value")
    texts, sure = [], int(_lost(gains, q).any(["layer", "head"]).sum())
    for phenomenon in gains["phenomenon"].values.tolist():
        mine = gains.sel(phenomenon=phenomenon, drop=True)
        falls = strongest(mine.where((q.sel(phenomenon=phenomenon) < RATE) & (mine < 0)))
        heads = [reading for reading in falls[::-1] if reading.value == reading.value]
        baseline = f"{numbers('phenomenon_baseline', phenomenon=phenomenon):%}"
        texts.append(
            f"{phenomenon} ({baseline}): {', '.join(head.head for head in heads[:MOST_HEADS_NAMED]) or 'none'}"
        )
    none = "No phenomenon needs a single head beyond chance"
    yield Finding.judged(
        _loss(gains, q),
        f"Accuracy with all heads, and heads without which it falls: {'; '.join(texts)}.",
        holds=f"{sure} of {gains.sizes['phenomenon']} phenomena need a single head beyond chance",
        fails=none,
        undecided=none,
        unit="items",
    )


def unconfirmed(numbers: Numbers) -> Iterator[Finding]:
    """The held-out gain of the head with the largest gain on one half of the examples: the lower of both halves."""
    metric = numbers.main_metric
    chosen = numbers.array("chosen_gain", metric=metric)
    half = int(chosen["lower"].fillna(-np.inf).argmin("half"))
    lower = of_array(chosen.isel(half=half))
    head = f"Head {chosen['chosen_head'].values[half]}" if "chosen_head" in chosen.coords else "A head"
    text = f"{head} has the largest gain on one half of the examples; on the other it gains {lower.text}."
    yield Finding.judged(
        above(lower, 0.0, (n_examples(chosen) or (0, 0))[0]),
        text,
        holds="Disabling a head helps",
        fails="The gain by disabling a head is not confirmed",
        undecided="No gain by disabling a head is confirmed",
        unit="examples",
    )
