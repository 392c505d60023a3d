"""The page of `compare`: what changed most in each later model (Kovaleva et al. 2019, Figure 5)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import xarray as xr

from headscope.figures import bars, by_layer, heatmap
from headscope.figures.labels import label
from headscope.report.claims import POINT, apart, head_above, most_of_many, tied
from headscope.report.declared import Part, StudyParts, parts_of
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.shared_findings import change
from headscope.report.wording import (
    Estimate,
    Reading,
    examples,
    layers_named,
    n_examples,
    number,
    of_array,
    several,
    spread,
    strongest,
)
from headscope.results.vocabulary import FEATURES
from headscope.statistics.significance import LIKE, changed_clearly, q_changed, surely
from headscope.studies.training.compare.card import CARD, kinds

ALIKE, OTHERWISE, SCORES = "How much attention changed", "What changed", "Restored layers"
# More models than this have only the figures that show all of them together.
MOST_MODELS = 4
SAME = 1e-5
LINGUISTIC = list(FEATURES[:6])


def of_layers(numbers: Numbers) -> dict[int, Estimate]:
    """The change of each layer that has a value."""
    array = change(numbers.array("layer_similarity")).dropna("layer").transpose("layer")
    return {int(value["layer"]): of_array(value) for value in array}


def n(array: xr.DataArray) -> int:
    """The number of examples of an array."""
    return (n_examples(array) or (0, 0))[0]


def unchanged(numbers: Numbers) -> Finding:
    """The sentence about a model whose attention is that of the first."""
    text = f"The attention of all heads is that of {numbers.words['reference']}: all similarities are 1."
    return Finding("No head changed", text)


def layers_apart(numbers: Numbers) -> Finding:
    """The layer that changed more than the next one, or those that cannot be told apart."""
    changes, examples_read = of_layers(numbers), n(numbers.array("layer_similarity"))
    most, *others = sorted(changes, key=lambda layer: -changes[layer].value)
    first, size = numbers.words["reference"], number(changes[most].value)
    text = f"Mean change over the heads of layer {most}, compared with {first}: {size}"
    if not others:
        return Finding(f"Change of layer {most}", f"{text}.")
    claims = {layer: apart(changes[most], changes[layer], examples_read) for layer in others}
    same = [layer for layer in changes if changes[layer].value < SAME]
    alike = [most, *(layer for layer, claim in claims.items() if claim.verdict == "fails" and layer not in same)]
    did_not = f" {_layers_in_words(same)} did not change." if same else ""
    return Finding.judged(
        claims[others[0]],
        f"{text}; of layer {others[0]}: {number(changes[others[0]].value)}.{did_not}",
        holds=f"Layer {most} changed most",
        fails=f"{_layers_in_words(alike)} changed by similar amounts",
        undecided=f"{_layers_in_words([*tied(changes), others[0]])} cannot be told apart",
        unit="examples",
    )


def _layers_in_words(layers: list[int]) -> str:
    return layers_named(sorted(set(layers))).capitalize()


def head_apart(numbers: Numbers) -> Finding:
    """The head that changed more than the highest would if no head stood apart.

    Heads that did not change do not say how far others differ; where most are such, it is compared with the next head.
    """
    changes = change(numbers.array("similarity"))
    changed, (most, *others) = changes.where(changes >= SAME), strongest(changes)
    if 2 * int(changed.count()) > changes.size or not others:
        claim = replace(most_of_many(changed, n(changes)), least=POINT)
    else:
        claim = apart(most.estimate, others[0].estimate, n(changes))
    similar = 1 - most.value
    lowest = number(similar) if similar < 0.99 else f"{similar:.4f}"
    return Finding.judged(
        claim,
        f"Head {most.head} has the lowest cosine similarity, {lowest}.",
        holds=f"Head {most.head} changed most",
        fails="No head changed far more than the others",
        undecided="It cannot be told whether a head changed far more than the others",
        unit="examples",
    )


def how_many(numbers: Numbers) -> Finding:
    """The heads whose similarity is below 0.9 beyond chance, and how many more may be."""
    similarity = numbers.array("similarity")
    claim = head_above(change(similarity), 1 - LIKE)
    count = int(changed_clearly(similarity).sum()) if claim.verdict == "holds" else 0
    others, limit = int((similarity < LIKE).sum()) - count, f"a cosine similarity below {LIKE}"
    may = f"{several(others, 'other head' if count else 'head')} may have {'one' if count else limit}."
    text = f"They have {limit}, beyond chance." if count else f"No head has {limit}."
    text = f"{text} {may}" if count and others else may if others else text
    return Finding.judged(
        claim,
        text,
        holds=f"{several(count, 'head')} of {int(similarity.count())} changed clearly",
        fails="No head changed clearly",
        undecided="No head clearly changed",
        unit="examples",
    )


def last_two(numbers: Numbers) -> Finding | None:
    """The lower one of the last two layers beside the highest of the others."""
    changes = [*of_layers(numbers).values()]
    if len(changes) < max(3, numbers.result.sizes["layer"]):
        return None
    last = min(changes[-2:], key=lambda size: size.value)
    other = max(changes[:-2], key=lambda size: size.value)
    return Finding.judged(
        apart(last, other, n(numbers.array("layer_similarity"))),
        f"They changed by {number(last.value)} or more, the others by {number(other.value)} or less; Kovaleva et al. "
        "(2019) found this for all tasks but QQP.",
        holds="The last two layers changed most",
        fails="The last two layers did not change most",
        undecided="It cannot be told whether the last two layers changed most",
        unit="examples",
    )


def padded(numbers: Numbers) -> Finding:
    """The change of padded maps beside that over real tokens alone."""
    array = numbers.array("padded_similarity")
    ours, theirs = float(change(numbers.array("similarity")).mean()), float(change(array).mean())
    text = f"With inputs padded to 200 tokens and padding counted, the mean change over heads is {number(theirs)}"
    return Finding("As coded", f"{text}; over real tokens alone it is {number(ours)}.{examples(array)}")


def changed(topic: str, name: str, **labels: Any) -> Part:
    """The change of a number of heads: its mean, how many heads clearly changed, and the spread."""

    def part(numbers: Numbers) -> Finding:
        array = numbers.array(name, **labels)
        unit = " nats" if array.attrs.get("units") == "nats" else ""
        mean = f"On average over heads {_signed(float(array.mean()))}{unit}"
        return Finding(topic, f"{mean}. {_sure(array)}Changes of heads: {spread(array)}.{examples(array)}")

    return part


def _sure(array: xr.DataArray) -> str:
    """The number of heads whose interval lies above 0 or below 0."""
    if "lower" not in array.coords:
        return ""
    up, down = int((array["lower"] > 0).sum()), int((array["upper"] < 0).sum())
    chance = f"by chance alone: about {max(1, round(0.05 * array.size))}"
    text = f"The interval lies above 0 in {up} and below 0 in {down} of {array.size} heads ({chance})"
    return f"{text}, {surely(q_changed(array), 'heads')}. "


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}"


def features(numbers: Numbers) -> Finding:
    """The change of the attention to linguistic features."""
    array = numbers.array("difference_feature_attention", feature=LINGUISTIC).dropna("feature", how="all")
    names = array["feature"].values.tolist()
    means = [f"{label('feature', name)} {_signed(float(array.sel(feature=name).mean()))}" for name in names]
    text = f"Attention to features, on average over heads: {', '.join(means)}; changes of heads: {spread(array)}."
    return Finding("Linguistic features", f"{text}{examples(array)}")


def restored(numbers: Numbers) -> Finding:
    """The score with the lowest layers as in the first model."""
    metric, task = str(numbers.array("restored_score")["metric"].values[0]), numbers.words["task"]
    scores, changes = (numbers.array(name, metric=metric) for name in ("restored_score", "restored_change"))
    before, count = Reading(metric, of_array(scores[0])), examples(scores)
    if scores.size == 1:
        return Finding("Score", f"On {task}: {before}.{count}")
    steps = [Reading(several(int(part["restored"]), "layer"), of_array(part)) for part in changes[1:]]
    sure = [step.head for step in steps if step.estimate.is_not(0)]
    which = f"The change is beyond chance with {', '.join(sure)}" if sure else "Every interval of a change includes 0"
    first, by_step = numbers.words["reference"], ", ".join(map(str, steps))
    text = f"With the weights of {first} in the lowest layers the score changes by: {by_step}. {which}.{count}"
    return Finding("Restored layers", f"The fine-tuned model has {before} on {task}. {text}")


MAIN: tuple[Part, ...] = (layers_apart, head_apart, how_many)
OTHERS: tuple[Part, ...] = (
    *(last_two, padded),
    changed("Attention to separators", "difference_attention_to", token_class="sep"),
    changed("Attention to the start token", "difference_attention_to", token_class="cls"),
    changed("Attention to punctuation", "difference_attention_to", token_class="punct"),
    changed("Previous token", "difference_attention_offset", offset=-1),
    changed("Next token", "difference_attention_offset", offset=1),
    changed("Breadth", "difference_entropy"),
    *(features, restored),
)


def by_model(parts: tuple[Part, ...], same: tuple[Part, ...], title: Callable[[str, str], str]) -> Part:
    """What parts say of each later model, `same` of one whose attention is that of the first."""

    def findings(numbers: Numbers) -> Iterator[Finding]:
        models = numbers.result["model"].values.tolist()
        for model in models:
            result = numbers.result.sel(model=model)
            is_same = float(change(result["similarity"]).max()) < SAME
            for finding in parts_of(same if is_same else parts, result):
                yield finding if len(models) == 1 else replace(finding, topic=title(finding.topic, model))

    return findings


def chart(number_: str, kind: Callable[..., Any], caption: str, name: str = "", where: str | None = "") -> Part:
    """A chart of all heads of all later models: of the change, whose name ends with `where`, or of the number."""

    def part(numbers: Numbers) -> Figure:
        array = numbers.array(number_)
        picture = kind(_squeezed(array if where is None else change(array, f"since the first model{where}")))
        return Figure(name or number_, ALIKE, picture, caption, number_)

    return part


def layer_bars(numbers: Numbers) -> Figure:
    """The change of each layer."""
    array = change(numbers.array("layer_similarity"), "since the first model, by layer").transpose("layer", "model")
    named = array.assign_coords(layer=[f"layer {layer}" for layer in array["layer"].values])
    caption = "Means over the heads of a layer, with their 95% intervals over examples."
    return Figure("layer_similarity", ALIKE, bars(_squeezed(named)), caption, "layer_similarity")


def difference(name: str, caption: str) -> Part:
    """A chart of a difference for each later model, unless there are too many."""

    def part(numbers: Numbers) -> Iterator[Figure]:
        count = numbers.result.sizes["model"]
        for model in numbers.labels(name, "model") if count <= MOST_MODELS else ():
            array = numbers.array(name, model=model)
            stem, ending = (name, "") if count == 1 else (f"{name}-{model}", f": {model}")
            picture = heatmap(array.assign_attrs(long_name=array.attrs["long_name"] + ending), diverging=True)
            yield Figure(stem, OTHERWISE, picture, caption, name)

    return part


def restored_bars(numbers: Numbers) -> Figure:
    """The score with the lowest layers as in the first model."""
    scores = numbers.array("restored_score").transpose("restored", "metric", "model")
    words = [f"layers 1 to {count}" if count > 1 else f"layer {count}" for count in scores["restored"].values]
    scores = scores.assign_coords(restored=["none", *words[1:]])
    caption = "The layers that have the first model's weights. After Hao et al. (2019)."
    return Figure("restored_score", SCORES, bars(_squeezed(scores)), caption, "restored_score")


def _squeezed(array: xr.DataArray) -> xr.DataArray:
    """Without the dimension `model` where there is one model only."""
    return array.isel(model=0, drop=True) if array.sizes["model"] == 1 else array


FIVE = "1 minus the cosine similarity; darker where attention changed more. After Kovaleva et al. (2019), Figure 5."
CODED = "As released: inputs padded to 200 tokens, padding counted."
NATS = "From 0 for the same attention to 0.69 nats for nothing in common."
CLASSES = "Share of attention to each class of token: later model minus the first."
OFFSETS = "Attention to the previous, the same and the next token: later model minus the first."
MOST_ATTENDED = (
    "Attention to the most attended token of each feature: later model minus the first. Kovaleva et al. (2019), "
    "section 4.4."
)
PAGE = StudyParts(
    highlights=(by_model(MAIN, (), "{} in {}".format),),
    findings=(by_model(OTHERS, (unchanged, restored), lambda topic, model: f"{model}: {topic.lower()}"),),
    charts=(
        layer_bars,
        chart("similarity", heatmap, FIVE),
        chart("similarity", by_layer, "A dot for each head.", "similarity-by_layer"),
        chart("padded_similarity", heatmap, CODED, where=", padded"),
        chart("js_divergence", heatmap, NATS, where=None),
        difference("difference_attention_to", CLASSES),
        difference("difference_attention_offset", OFFSETS),
        difference("difference_entropy", "In nats: above 0 where attention has become broader."),
        difference("difference_feature_attention", MOST_ATTENDED),
        restored_bars,
    ),
    kinds=(kinds,),
    card=CARD,
)
