"""Findings of a film: in which order layers change, which head changed most, and when."""

from collections.abc import Iterator
from dataclasses import replace
from math import atanh, hypot, sqrt, tanh

import xarray as xr
from scipy.stats import norm

from headscope.report.claims import POINT, Claim, apart, most_of_many
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, examples, measured, n_examples, number, of_array, spread, strongest
from headscope.statistics.significance import RATE
from headscope.studies.film.page.study_numbers import of_other_studies

NO_ORDER = "It cannot be told in which order layers change"
SURE = 0.999
# With fewer steps, the start among them, a moment would only be the middle of the training.
LEAST_STEPS = 4
LEAST_LAYERS = 4


def highlights(result: xr.Dataset) -> list[Finding]:
    """The layer and the head that changed most, the order of layers, and the score."""
    return [*_layer(result), *_order(result), *_head(result), *_scores(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """The highlights, how much each layer changed, when heads did, how far weights moved, and numbers of studies."""
    return [*highlights(result), *_layers(result), *_heads(result), *_weights(result), *of_other_studies(result)]


def change(result: xr.Dataset, name: str) -> xr.DataArray | None:
    """1 less a similarity at each step, with its interval; None where it has no values."""
    array = measured(result, name)
    if array is None:
        return None
    bounds = {"lower": 1 - array["upper"], "upper": 1 - array["lower"]} if "lower" in array.coords else {}
    attrs = {"long_name": "change of attention since the start", "units": "1 − cosine"}
    return (1 - array).assign_coords(bounds).assign_attrs(array.attrs | attrs).rename("change")


def last_change(result: xr.Dataset, name: str) -> xr.DataArray | None:
    """The change at the last step; None where it has no values."""
    changes = change(result, name)
    last = None if changes is None else changes.isel(step=-1)
    return None if last is None or not bool(last.notnull().any()) else last


def _layer(result: xr.Dataset) -> Iterator[Finding]:
    """The layer that had changed more than the next one at the last step."""
    changes = last_change(result, "step_layer_similarity")
    if changes is None or changes.count() < 2:
        return
    parts = changes.dropna("layer").transpose("layer")
    ranked = sorted(((of_array(part), int(part["layer"])) for part in parts), key=lambda pair: -pair[0].value)
    (first, layer), (second, other) = ranked[:2]
    yield Finding.judged(
        apart(first, second, (n_examples(changes) or (0, 0))[0]),
        f"Change of attention at step {int(changes['step'])} (1 minus the cosine): layer {layer} {first.text}, "
        f"layer {other} {second.text}.{examples(changes)}",
        holds=f"Layer {layer} changed most",
        fails="No layer changed far more than the others",
        undecided="It cannot be told which layer changed most",
        unit="examples",
    )


def _order(result: xr.Dataset) -> Iterator[Finding]:
    """Whether upper layers change earlier or later: a correlation with errors over examples and over layers."""
    if result.sizes["step"] < LEAST_STEPS:
        return
    halves, order = measured(result, "half_change"), measured(result, "order_of_layers")
    if halves is None or order is None:
        return
    known = halves.dropna("layer")
    texts = ", ".join(f"layer {int(part['layer'])} {100 * float(part):.0f}%" for part in known)
    first, then = ("Upper", "lower") if float(order) < 0 else ("Lower", "upper")
    claim = _over_layers(of_array(order), known.sizes["layer"], (n_examples(order) or (0, 0))[0])
    yield Finding.judged(
        claim,
        f"Half of the change of the last step was there after this share of the steps: {texts}. Correlation with the "
        f"number of the layer: {number(float(order))}{_bounds(claim)}.{examples(order)}",
        holds=f"{first} layers change earlier than {then} ones",
        fails="Layers change in no order",
        undecided=NO_ORDER,
        unit="",
    )


def _over_layers(correlation: Estimate, layers: int, n: int) -> Claim:
    """A correlation over layers that is not 0: with its error over layers (Fisher's z), and over examples."""
    size, sure = abs(correlation.value), Estimate(abs(correlation.value))
    if layers >= LEAST_LAYERS and correlation.tested:
        ends = [atanh(max(-SURE, min(SURE, end))) for end in (correlation.lower, correlation.upper)]
        half = hypot(float(norm.ppf(1 - RATE / 2)) / sqrt(layers - 3), (ends[1] - ends[0]) / 2)
        middle = atanh(min(size, SURE))
        sure = Estimate(size, tanh(middle - half), tanh(middle + half))
    return Claim(correlation.value, 0.0, sure, n)


def _bounds(claim: Claim) -> str:
    """The interval of a correlation, in its own direction."""
    if not claim.difference.tested:
        return f", without an interval: {LEAST_LAYERS} layers are the least"
    signed = claim.difference if claim.value >= 0 else -claim.difference
    return f" [{number(signed.lower)}, {number(signed.upper)}] over examples and layers"


def _head(result: xr.Dataset) -> Iterator[Finding]:
    """The head that changed more than the most of as many heads would without a head apart."""
    last = last_change(result, "step_similarity")
    if last is None:
        return
    most = strongest(last.drop_vars("step"))[0]
    layer, head = map(int, most.head.split("-"))
    half = result["half_change_of_head"].sel(layer=layer, head=head)
    timed = bool(half.notnull()) and result.sizes["step"] >= LEAST_STEPS
    when = f"; half of it was there after {100 * float(half):.0f}% of the steps" if timed else ""
    n = (n_examples(last) or (0, 0))[0]
    none = "No head changed far more than the others"
    yield Finding.judged(
        replace(most_of_many(last.drop_vars("step"), n), least=POINT),
        f"The attention of head {most.head} changed by {number(most.value)} (1 minus the cosine){when}.",
        holds=f"Head {most.head} changed most",
        fails=none,
        undecided=none,
        unit="examples",
    )


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    scores = measured(result, "step_score")
    if scores is None:
        return
    scores = scores.isel(metric=0)
    metric = str(scores["metric"].values)
    texts = ", ".join(f"step {int(part['step'])} {of_array(part).text}" for part in scores.dropna("step"))
    name = f"{metric.capitalize()} on {result.attrs.get('task', 'the task')}"
    yield Finding("Score", f"{name}: {texts}.{examples(scores)}")


def _layers(result: xr.Dataset) -> Iterator[Finding]:
    last = last_change(result, "step_layer_similarity")
    if last is not None:
        texts = ", ".join(f"layer {int(part['layer'])} {of_array(part).text}" for part in last.transpose("layer"))
        yield Finding("Layers", f"Change of attention at step {int(last['step'])}: {texts}.{examples(last)}")


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    halves = measured(result, "half_change_of_head")
    if halves is not None:
        yield Finding("Heads", f"When half of a head's change was there, as a share of the steps: {spread(halves)}.")


def _weights(result: xr.Dataset) -> Iterator[Finding]:
    last, moved = last_change(result, "step_layer_similarity"), measured(result, "step_weight_change")
    if last is None or moved is None:
        return
    moved = moved.isel(step=-1)
    ratios = (last / moved.where(moved > 0)).dropna("layer")
    texts = ", ".join(f"layer {int(one['layer'])} {number(float(one))}" for one in ratios)
    if texts:
        far = ", ".join(
            f"layer {int(one['layer'])} {100 * float(one):.2f}%" for one in moved.dropna("layer").transpose("layer")
        )
        yield Finding("Weights", f"They moved by {far} of their length; change of attention by that share: {texts}.")
