"""The page of `film`: in which order layers change, which head changed most, and when."""

from collections.abc import Iterator
from dataclasses import replace
from math import atanh, hypot, sqrt, tanh

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.figures import curve, heatmap, with_interval
from headscope.report.claims import POINT, Claim, apart, most_of_many
from headscope.report.declared import Chart, StudyCard, StudyParts
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.shared_findings import change
from headscope.report.tables import Table, titled
from headscope.report.wording import Estimate, examples, number, of_array, spread, strongest
from headscope.statistics.significance import RATE
from headscope.studies.training.film import TRAINING, card

# Smaller changes are rounding.
SURE, SAME = 0.999, 1e-5
# With fewer steps, the start among them, a moment would only be the middle of the training.
LEAST_STEPS = 4
LEAST_LAYERS = 4
# Panels of a strip, and how many stand in a row: a row with a gap has the axes of a missing panel.
ROWS = ((12, 6), (10, 5), (9, 3), (8, 4), *((panels, panels) for panels in range(6, 0, -1)))
CLASSES = {"cls": "[CLS]", "sep": "separators", "punct": "punctuation"}
# Numbers of heads that are shown by layer: the variable, its labels, a title, and whether its largest counts.
BY_LAYER: tuple[tuple[str, dict[str, str], str, bool], ...] = (
    ("step_entropy", {}, "", False),
    *(
        ("step_attention_to", {"token_class": label}, f"attention to {words}", False)
        for label, words in CLASSES.items()
    ),
    ("step_sink", {}, "", False),
    ("step_largest", {}, "", True),
)
DIMENSIONS = {"step_number": "main_number", "step_layer_number": "layer_number"}
STRIP, CURVES, WHEN, OTHERS = "Step by step", "Curves by layer", "When heads change", "Numbers of other studies"


def changes(numbers: Numbers, name: str) -> xr.DataArray:
    """1 minus a similarity at each step, with its interval."""
    return change(numbers.array(name), "since the start")


def last_change(numbers: Numbers, name: str) -> xr.DataArray:
    """The change at the last step.

    Raises `MissingNumber` if it has no values.
    """
    last = changes(numbers, name).isel(step=-1)
    if not bool(last.notnull().any()):
        raise MissingNumber(name)
    return last


def layer(numbers: Numbers) -> Finding | None:
    """The layer that had changed more than the next one at the last step."""
    last = last_change(numbers, "step_layer_similarity")
    parts = last.dropna("layer").transpose("layer")
    ranked = sorted(((of_array(part), int(part["layer"])) for part in parts), key=lambda pair: -pair[0].value)
    if len(ranked) < 2:
        return None
    (first, most), (second, other) = ranked[:2]
    return Finding.judged(
        apart(first, second, numbers.n("step_layer_similarity")),
        f"Change of attention at step {int(last['step'])} (1 minus the cosine): layer {most} {first.text}, "
        f"layer {other} {second.text}.{examples(last)}",
        holds=f"Layer {most} changed most",
        fails="No layer changed far more than the others",
        undecided="It cannot be told which layer changed most",
        unit="examples",
    )


def order(numbers: Numbers) -> Finding | None:
    """Whether upper layers change earlier or later: a correlation with errors over examples and over layers."""
    if numbers.result.sizes["step"] < LEAST_STEPS:
        return None
    halves, correlation = numbers.array("half_change").dropna("layer"), numbers("order_of_layers")
    texts = ", ".join(f"layer {int(part['layer'])} {100 * float(part):.0f}%" for part in halves)
    first, then = ("Upper", "lower") if correlation.value < 0 else ("Lower", "upper")
    claim = over_layers(correlation, halves.sizes["layer"], numbers.n("order_of_layers"))
    return Finding.judged(
        claim,
        f"Half of the final change was reached after this share of the steps: {texts}. Correlation with the "
        f"number of the layer: {number(correlation.value)}{_bounds(claim)}."
        f"{examples(numbers.array('order_of_layers'))}",
        holds=f"{first} layers change earlier than {then} ones",
        fails="Layers change in no order",
        undecided="It cannot be told in which order layers change",
        unit="",
    )


def over_layers(correlation: Estimate, layers: int, n: int) -> Claim:
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
        return f", without an interval, which needs {LEAST_LAYERS} layers"
    signed = claim.difference if claim.value >= 0 else -claim.difference
    return f" [{number(signed.lower)}, {number(signed.upper)}] over examples and layers"


def head(numbers: Numbers) -> Finding:
    """The head that changed more than the highest would if no head stood apart."""
    last = last_change(numbers, "step_similarity").drop_vars("step")
    most = strongest(last)[0]
    labels = dict(zip(("layer", "head"), map(int, most.head.split("-")), strict=True))
    half = numbers.result["half_change_of_head"].sel(labels)
    timed = bool(half.notnull()) and numbers.result.sizes["step"] >= LEAST_STEPS
    when = f"; half of it was reached after {100 * float(half):.0f}% of the steps" if timed else ""
    none = "No head changed far more than the others"
    return Finding.judged(
        replace(most_of_many(last, numbers.n("step_similarity")), least=POINT),
        f"The attention of head {most.head} changed by {number(most.value)} (1 minus the cosine){when}.",
        holds=f"Head {most.head} changed most",
        fails=none,
        undecided=none,
        unit="examples",
    )


def main_score(numbers: Numbers) -> xr.DataArray:
    """The score by the first metric, at the steps that have one."""
    return numbers.array("step_score", metric=numbers.result["metric"].values[0]).dropna("step")


def watched(numbers: Numbers) -> Finding:
    """The largest score, and the head whose entropy fell most, from the first to the last step."""
    largest, entropy = numbers.array("step_largest"), numbers.array("step_entropy")
    first, last = (int(entropy["step"][index]) for index in (0, -1))
    if not bool(largest.notnull().any()):
        raise MissingNumber("step_largest")
    top = strongest(largest.isel(step=-1, drop=True))[0]
    falls = strongest(entropy.isel(step=0, drop=True) - entropy.isel(step=-1, drop=True))[0]
    fall = f"fell most in head {falls.head}, by {number(falls.value)} nats" if falls.value > 0 else "fell in no head"
    batches = " Each step read another batch." if numbers.result.attrs["corpus"] == TRAINING else ""
    return Finding(
        "Scores and entropy",
        f"The largest score before the softmax was {number(float(largest.isel(step=0).max()))} at step {first} and "
        f"{number(top.value)} at step {last}, there in head {top.head}. Between these steps entropy {fall}.{batches}",
    )


def score(numbers: Numbers) -> Finding:
    """The score at each step."""
    scores, metric = main_score(numbers), str(numbers.result["metric"].values[0])
    texts = ", ".join(f"step {int(part['step'])} {of_array(part).text}" for part in scores)
    name = f"{metric.capitalize()} on {numbers.words.get('task', 'the task')}"
    return Finding("Score", f"{name}: {texts}.{examples(scores)}")


def heads(numbers: Numbers) -> Finding:
    """When heads had half of their change."""
    halves = spread(numbers.array("half_change_of_head"))
    return Finding("Heads", f"Share of the steps after which a head had made half of its change: {halves}.")


def weights(numbers: Numbers) -> Finding | None:
    """How far the weights of each layer moved, and its change of attention by that."""
    last, moved = last_change(numbers, "step_layer_similarity"), numbers.array("step_weight_change").isel(step=-1)
    ratios = (last / moved.where(moved > 0)).dropna("layer")
    texts = ", ".join(f"layer {int(part['layer'])} {number(float(part))}" for part in ratios)
    known = moved.dropna("layer").transpose("layer")
    far = ", ".join(f"layer {int(part['layer'])} {100 * float(part):.2f}%" for part in known)
    text = f"Change as a share of their norm: {far}; change of attention, divided by that share: {texts}."
    return Finding("Weights", text) if texts else None


def study_numbers(result: xr.Dataset, variable: str) -> Iterator[xr.DataArray]:
    """Each number of `step_number` or `step_layer_number`, [step, layer, ...], under its own name and unit."""
    dim = DIMENSIONS[variable]
    for index in range(result.sizes[dim] if variable in result else 0):
        part = with_interval(result, variable).isel({dim: index})
        attrs = {"long_name": str(part[dim].values), "units": str(part.coords.get("number_unit", ""))}
        part = part.drop_vars([dim, "number_unit"], errors="ignore")
        if bool(part.notnull().any()):
            yield part.assign_attrs(part.attrs | attrs)


def of_other_studies(numbers: Numbers) -> Iterator[Finding]:
    """The mean over heads at each step, and how far heads changed from the start to the last step."""
    for part in study_numbers(numbers.result, "step_number"):
        means = part.mean(("layer", "head")).dropna("step")
        texts = ", ".join(f"step {int(mean['step'])} {number(float(mean))}" for mean in means)
        yield Finding(part.attrs["long_name"], f"Mean over heads: {texts}.{_change(part)}")


def _change(part: xr.DataArray) -> str:
    """A sentence on how far heads changed from the start to the last step."""
    change = (part.isel(step=-1) - part.isel(step=0)).drop_vars(["lower", "upper"], errors="ignore")
    if not change.count():
        return ""
    if float(abs(change).max()) < SAME:
        return " No head changed from the start to the last step."
    return f" Change of heads from the start to the last step: {spread(change)}."


def strip(numbers: Numbers) -> Figure:
    """The change of all heads, step by step."""
    later = changes(numbers, "step_similarity").isel(step=slice(1, None))
    caption = "Steps from left to right; darker where attention changed more since the start."
    return Figure("strip", STRIP, _strip(later), caption, "step_similarity")


def _strip(array: xr.DataArray) -> object:
    """A panel of all heads for each step, or for some of many, in rows without a gap."""
    last = array.sizes["step"] - 1
    panels, columns = next((panels, columns) for panels, columns in ROWS if panels <= last + 1)
    array = array.isel(step=np.linspace(0, last, panels).round().astype(int))
    named = array.assign_coords(step=[f"step {step}" for step in array["step"].values])
    return heatmap(named if panels > 1 else named.isel(step=0, drop=True), columns=columns)


def _curve(array: xr.DataArray) -> object:
    """A line for each layer."""
    keep = [name for name in ("lower", "upper") if name in array.coords and array[name].dims == array.dims]
    array = array.drop_vars([name for name in array.coords if name not in (*array.dims, *keep)])
    return curve(array.transpose("step", "layer"), "step", ordered=True)


def change_by_layer(numbers: Numbers) -> Figure:
    """The change of the attention of each layer."""
    caption = "Mean over the heads of a layer, with 95% intervals over examples."
    return Figure("change", CURVES, _curve(changes(numbers, "step_layer_similarity")), caption, "step_layer_similarity")


def heads_by_layer(numbers: Numbers) -> Iterator[Figure]:
    """Entropy, attention to each class of token, largest score and sink, by layer."""
    for name, labels, title, largest in BY_LAYER:
        if name not in numbers.result or not (array := numbers.result[name].sel(labels)).notnull().any():
            continue
        together = array.max("head", keep_attrs=True) if largest else array.mean("head", keep_attrs=True)
        chart = _curve(together.assign_attrs(long_name=title or array.attrs["long_name"]))
        caption = f"{'Largest' if largest else 'Mean'} of the heads of a layer."
        yield Figure("-".join((name, *labels.values())), CURVES, chart, caption, name)


def scores(numbers: Numbers) -> Figure:
    """The score at each step."""
    chart = curve(main_score(numbers), "step")
    return Figure("score", CURVES, chart, "With 95% intervals over examples.", "step_score")


def others(numbers: Numbers) -> Iterator[Figure]:
    """A strip of each main number of heads, and a curve of each number of layers."""
    for index, array in enumerate(study_numbers(numbers.result, "step_number"), 1):
        yield Figure(f"main-number-{index}", OTHERS, _strip(array), "From the start on.", "step_number")
    for index, array in enumerate(study_numbers(numbers.result, "step_layer_number"), 1):
        caption = "With 95% intervals, where the study has them."
        yield Figure(f"layer-number-{index}", OTHERS, _curve(array), caption, "step_layer_number")


def table(numbers: Numbers) -> Table:
    """A row for each layer, a column for each step after the start."""
    later = changes(numbers, "step_layer_similarity").isel(step=slice(1, None)).transpose("layer", "step")
    titles = [f"Step {step}" for step in later["step"].values.tolist()]
    digits = ".3f" if float(later.max()) >= 0.01 else ".2g"
    rows = [(int(part["layer"]), [of_array(cell).known_cell(digits) for cell in part]) for part in later]
    caption = "Change of the attention of each layer since the start: 1 minus the cosine, mean over its heads."
    return titled("change", caption, "Layer", titles, rows)


MOVED = "How far the weights of a layer moved, as a share of their norm at the start."
HALVES = "The share of the steps after which half of the final change was reached; darker: later."
STYLE = {"dim": "step", "ordered": True}
PAGE = StudyParts(
    highlights=(layer, order, head, score, watched),
    findings=(heads, weights, of_other_studies),
    charts=(
        strip,
        change_by_layer,
        Chart("step_weight_change", "curve", CURVES, MOVED, dims=("step", "layer"), style=STYLE),
        heads_by_layer,
        scores,
        Chart("half_change_of_head", "heatmap", WHEN, HALVES),
        others,
    ),
    tables=(table,),
    by_layer=("half_change",),
    kinds=(card.kinds,),
    card=StudyCard(main_numbers=card.main_numbers, sentences=card.sentences),
)
