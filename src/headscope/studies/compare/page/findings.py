"""Findings of a comparison: the layers and heads that changed most (Kovaleva et al. 2019, Figure 5)."""

from collections.abc import Iterator
from dataclasses import replace
from math import log

import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import POINT, apart, head_above, most_of_many, tied
from headscope.report.parts import Finding
from headscope.report.wording import (
    Reading,
    agree,
    examples,
    layers_named,
    measured,
    n_examples,
    number,
    of_array,
    several,
    spread,
    strongest,
)
from headscope.results.vocabulary import FEATURES
from headscope.statistics.interval_tests import q_above, q_changed, surely
from headscope.statistics.significance import RATE
from headscope.studies.compare.page.figures import LIKE, change

SAME = 1e-5
MOST_MODELS = 4
LINGUISTIC = FEATURES[:6]
# Changes of a profile: topic, variable and place.
CHANGES = {
    "Attention to separators": ("difference_attention_to", {"token_class": "sep"}),
    "Attention to the start token": ("difference_attention_to", {"token_class": "cls"}),
    "Attention to punctuation": ("difference_attention_to", {"token_class": "punct"}),
    "Previous token": ("difference_attention_offset", {"offset": -1}),
    "Next token": ("difference_attention_offset", {"offset": 1}),
    "Breadth": ("difference_entropy", {}),
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The layers, the head and the kind of attention that changed most, for the first later models."""
    models = result["model"].values.tolist()[:MOST_MODELS]
    shown, named = max(1, MOST_MODELS // len(models)), len(models) > 1
    parts = [list(_main(result.sel(model=model), f" in {model}" if named else "")) for model in models]
    return [finding for part in parts for finding in part[:shown]]


def _main(result: xr.Dataset, of_model: str) -> Iterator[Finding]:
    first = str(result.attrs.get("reference", "the first model"))
    layers, heads = (measured(result, name) for name in ("layer_similarity", "similarity"))
    if layers is None or heads is None:
        return
    if float(change(heads).max()) < SAME:
        yield Finding(f"No head changed{of_model}", f"The attention of all heads is that of {first}.")
        return
    yield _layers_apart(change(layers), first, of_model)
    yield _head_apart(heads, of_model)
    yield _how_many(heads, of_model)


def _layers_apart(array: xr.DataArray, first: str, of_model: str) -> Finding:
    """The layer that changed more than the next one, or those that cannot be told apart."""
    changes = {int(part["layer"]): of_array(part) for part in array.dropna("layer").transpose("layer")}
    most, *others = sorted(changes, key=lambda layer: -changes[layer].value)
    text = f"Mean change over the heads of layer {most}, compared with {first}: {number(changes[most].value)}"
    if not others:
        return Finding(f"Change of layer {most}{of_model}", f"{text}.")
    claims = {layer: apart(changes[most], changes[layer], _n(array)) for layer in others}
    same = [layer for layer in changes if changes[layer].value < SAME]
    alike = [most, *(layer for layer, claim in claims.items() if claim.verdict == "fails" and layer not in same)]
    unchanged = f" {_layers_in_words(same)} did not change." if same else ""
    return Finding.judged(
        claims[others[0]],
        f"{text}; of layer {others[0]}: {number(changes[others[0]].value)}.{unchanged}",
        holds=f"Layer {most} changed most{of_model}",
        fails=f"{_layers_in_words(alike)} changed alike{of_model}",
        undecided=f"{_layers_in_words([*tied(changes), others[0]])} cannot be told apart{of_model}",
        unit="examples",
    )


def _layers_in_words(layers: list[int]) -> str:
    return layers_named(sorted(set(layers))).capitalize()


def _head_apart(similarity: xr.DataArray, of_model: str) -> Finding:
    """The head that changed more than the most of as many heads would without a head apart.

    Heads that did not change do not say how far others differ; where most are such, it is compared with the next head.
    """
    changes, (most, *others) = change(similarity), strongest(change(similarity))
    changed, n = changes.where(changes >= SAME), _n(similarity)
    if 2 * int(changed.count()) > changes.size or not others:
        claim = replace(most_of_many(changed, n), least=POINT)
    else:
        claim = apart(most.estimate, others[0].estimate, n)
    similar = 1 - most.value
    kept = number(similar) if similar < 0.99 else f"{similar:.4f}"
    return Finding.judged(
        claim,
        f"Head {most.head} has the lowest cosine similarity, {kept}.",
        holds=f"Head {most.head} changed most{of_model}",
        fails=f"No head changed far more than the others{of_model}",
        undecided=f"No head surely changed far more than the others{of_model}",
        unit="examples",
    )


def _how_many(similarity: xr.DataArray, of_model: str) -> Finding:
    """The heads whose similarity is surely below 0.9, corrected for all heads."""
    array = change(similarity)
    q = q_above(array, 1 - LIKE)
    below = 0 if q is None else int((q < RATE).sum())
    seen = int((similarity < LIKE).sum())
    text = f"{several(seen, 'head')} {agree(seen, 'has', 'have')} a cosine similarity below {LIKE}."
    return Finding.judged(
        head_above(array, 1 - LIKE),
        text,
        holds=f"{several(below, 'head')} of {int(similarity.count())} changed clearly{of_model}",
        fails=f"No head changed clearly{of_model}",
        undecided=f"No head surely changed clearly{of_model}",
        unit="examples",
    )


def _n(array: xr.DataArray) -> int:
    return (n_examples(array) or (0, 0))[0]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings of each later model, without variables that did not change."""
    models = result["model"].values.tolist()
    return [
        replace(finding, topic=finding.topic if len(models) == 1 else f"{model}: {finding.topic.lower()}")
        for model in models
        for finding in _of_model(result.sel(model=model), str(model), str(result.attrs.get("reference", "the first")))
    ]


def _of_model(result: xr.Dataset, model: str, first: str) -> Iterator[Finding]:
    layers, heads = (measured(result, name) for name in ("layer_similarity", "similarity"))
    if layers is None or heads is None:
        return
    if float(change(heads).max()) < SAME:
        yield Finding("Attention", f"The attention of {model} is that of {first}: all similarities are 1.")
    else:
        yield from _main(result, "")
        yield _layers(change(layers), model, first)
        yield from _last_two(change(layers))
        yield _heads(heads)
        yield from _divergence(result)
        yield from _padded(result, heads)
        yield from _changes(result)
        yield from _features(result)
    yield from _restored(result, first)


def _layers(array: xr.DataArray, model: str, first: str) -> Finding:
    changes = ", ".join(map(str, _by_layer(array)))
    meaning = "(1 minus the cosine similarity, mean over the heads of a layer)"
    text = f"Change of the attention of {model}, compared with {first}: {changes} {meaning}."
    return Finding("Layers", f"{text}{examples(array)}")


def _by_layer(array: xr.DataArray) -> list[Reading]:
    return [Reading(f"layer {int(part['layer'])}", of_array(part)) for part in array.dropna("layer").transpose("layer")]


def _last_two(array: xr.DataArray) -> Iterator[Finding]:
    """The lower one of the last two layers beside the highest of the others."""
    changes = [reading.estimate for reading in _by_layer(array)]
    if len(changes) < max(3, array.sizes["layer"]):
        return
    last, other = (f(some, key=lambda one: one.value) for f, some in ((min, changes[-2:]), (max, changes[:-2])))
    yield Finding.judged(
        apart(last, other, _n(array)),
        f"They changed by {number(last.value)} or more, the others by {number(other.value)} or less; Kovaleva et al. "
        "(2019) found this for all tasks but QQP.",
        holds="The last two layers changed most",
        fails="The last two layers did not change most",
        undecided="It cannot be told whether the last two layers changed most",
        unit="examples",
    )


def _heads(similarity: xr.DataArray) -> Finding:
    below = int((similarity < LIKE).sum())
    text = f"Changes: {spread(change(similarity))}; heads with a similarity below {LIKE}: {below} of {similarity.size}"
    return Finding("Heads", f"{text}.{examples(similarity)}")


def _divergence(result: xr.Dataset) -> Iterator[Finding]:
    if (array := measured(result, "js_divergence")) is not None:
        scale = f"0 nats: the same attention; {number(log(2))} nats: nothing in common"
        mean = f"the mean over all heads is {number(float(array.mean()))}"
        yield Finding("Jensen-Shannon divergence", f"Heads: {spread(array)}; {mean} ({scale}).{examples(array)}")


def _padded(result: xr.Dataset, similarity: xr.DataArray) -> Iterator[Finding]:
    if (array := measured(result, "padded_similarity")) is not None:
        ours, theirs = float(change(similarity).mean()), float(change(array).mean())
        text = f"With inputs padded to 200 tokens and padding counted, the mean change over heads is {number(theirs)}"
        yield Finding("As coded", f"{text}; over real tokens alone it is {number(ours)}.{examples(array)}")


def _changes(result: xr.Dataset) -> Iterator[Finding]:
    for topic, (name, labels) in CHANGES.items():
        if (array := measured(result, name, **labels)) is not None:
            unit = " nats" if array.attrs.get("units") == "nats" else ""
            mean = f"On average over heads {_signed(float(array.mean()))}{unit}"
            yield Finding(topic, f"{mean}. {_sure(array)}Changes of heads: {spread(array)}.{examples(array)}")


def _sure(array: xr.DataArray) -> str:
    """The number of heads whose whole interval lies above 0 or below 0."""
    if "lower" not in array.coords:
        return ""
    up, down = int((array["lower"] > 0).sum()), int((array["upper"] < 0).sum())
    chance = f"by chance alone: about {max(1, round(0.05 * array.size))}"
    text = f"The interval lies above 0 in {up} and below 0 in {down} of {array.size} heads ({chance})"
    return f"{text}, {surely(q_changed(array), 'heads')}. "


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def _features(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "difference_feature_attention", feature=list(LINGUISTIC))
    if array is None:
        return
    present = [(name, array.sel(feature=name)) for name in LINGUISTIC if array.sel(feature=name).notnull().any()]
    means = [f"{label('feature', name)} {_signed(float(part.mean()))}" for name, part in present]
    ends = f"changes of heads: {spread(array)}"
    text = f"Attention to features, on average over heads: {', '.join(means)}; {ends}."
    yield Finding("Linguistic features", f"{text}{examples(array.sel(feature=[name for name, _ in present]))}")


def _restored(result: xr.Dataset, first: str) -> Iterator[Finding]:
    scores, changes = (measured(result, name) for name in ("restored_score", "restored_change"))
    if scores is None or changes is None:
        return
    metric = str(scores["metric"].values[0])
    scores, changes = scores.sel(metric=metric), changes.sel(metric=metric)
    before = Reading(metric, of_array(scores[0]))
    if scores.size == 1:
        yield Finding("Score", f"On {result.attrs['task']}: {before}.{examples(scores)}")
        return
    steps = [_step(part) for part in changes[1:]]
    sure = [step.head for step in steps if step.estimate.is_not(0)]
    which = f"The change is beyond chance with {', '.join(sure)}" if sure else "Every interval of a change includes 0"
    restored = f"With the weights of {first} in the lowest layers the score changes by: {', '.join(map(str, steps))}"
    as_it_is = f"The fine-tuned model has {before} on {result.attrs['task']}"
    yield Finding("Restored layers", f"{as_it_is}. {restored}. {which}.{examples(scores)}")


def _step(part: xr.DataArray) -> Reading:
    count = int(part["restored"])
    layers = several(count, "layer")
    return Reading(layers, of_array(part))
