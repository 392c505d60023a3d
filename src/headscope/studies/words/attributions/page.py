"""The page of `attributions`: which method says best what the model uses, and whether attention explains outputs."""

from collections.abc import Iterator
from typing import Any

from headscope.figures import bars, curve, matrix
from headscope.figures.labels import label
from headscope.figures.words import token_rows
from headscope.report.claims import LEAST_EXAMPLES, Claim, together, witness
from headscope.report.declared import Chart, Part, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.tables import Column, Table
from headscope.report.wording import agree, rate, sentence_case, several
from headscope.results import in_series
from headscope.studies.words.attributions import METHODS, altered_page
from headscope.studies.words.attributions.card import CARD
from headscope.studies.words.attributions.tables import (
    ChosenLayer,
    beside_paper,
    chosen,
    in_words,
    leader,
    methods_table,
)

BY_METHOD, INPUTS, LAYERS, CURVES, CLASSES, HEADS = (
    "Methods by faithfulness",
    "Important tokens",
    "Layers",
    "Deletion and insertion",
    "Classes of tokens",
    "What heads move",
)
# Lines that can be told from each other.
MOST_LINES = 6
MATRICES = {
    "comprehensiveness_gain": "Fall of the target without the most important tokens, minus that in random order.",
    "sufficiency_gain": "Fall of the target in random order, minus that with the most important tokens alone.",
    "rank_correlation": "Rank correlation of importance with blank-out.",
}


def above_random(numbers: Numbers) -> Iterator[Finding]:
    """How many methods beat random order, tested by the surest."""
    methods = chosen(numbers)
    gains = [method.gains["comprehensiveness"] for method in methods]
    if not gains:
        return
    scores = [method.scores["comprehensiveness"].value for method in methods]
    claims = together(
        [
            Claim(score, score - gain.value, gain, method.inputs)
            for score, gain, method in zip(scores, gains, methods, strict=True)
        ]
    )
    count = sum(claim.verdict == "holds" for claim in claims)
    at = witness(claims)
    first, claim = methods[at], claims[at]
    what = str(numbers.result.attrs["target"]).split(" (")[0]  # without the way in which a text is represented
    yield Finding.judged(
        claim,
        f"{_upper(first)}: without its most important tokens the {what} falls by {claim.difference.text} more than "
        f"without random tokens (q {rate(claim.q)}, Benjamini-Hochberg over {len(claims)} methods).",
        holds=f"{several(count, 'method')} of {len(methods)} {agree(count, 'finds', 'find')} what the target needs",
        fails="No method finds what the target needs better than random order does",
        undecided="It cannot be told whether a method does better than random order",
        unit="inputs",
    )


def most_faithful(numbers: Numbers) -> Iterator[Finding]:
    """The method that one half of the inputs chooses, beside the one on the other half that is nearest to it."""
    methods = chosen(numbers)
    if (first := leader(methods)) is None:
        return
    others = [method for method in methods if method is not first]
    nearest = min(others, key=lambda method: method.lead.lower)
    claim = _lead(first, nearest)
    close = [METHODS[method.method] for method in others if not method.lead.lower > 0]
    yield Finding.judged(
        claim,
        f"{_upper(first)}, has the highest comprehensiveness on one half of the inputs. On the other half "
        f"its lead over {nearest.name} is {claim.difference.signed}."
        + (f" Not clearly less: {', '.join(close)}." if close and claim.verdict == "undecided" else ""),
        holds=f"{METHODS[first.method].capitalize()} is the most faithful method",
        fails="No method is the most faithful on both halves of the inputs",
        undecided="The most faithful methods cannot be told apart",
        unit="inputs",
    )


def attention_beside(numbers: Numbers) -> Iterator[Finding]:
    """Attention beside the method that one half of the inputs chooses."""
    methods = chosen(numbers)
    attention, first = next((method for method in methods if method.method == "attention"), None), leader(methods)
    if attention is None or attention is first:
        return
    text = f"Comprehensiveness of {attention.name}: {attention.gains['comprehensiveness'].signed} over random order"
    if first is None:
        yield Finding("Attention", f"{text}.")
        return
    yield Finding.judged(
        _lead(first, attention),
        f"{text}; {first.name} has {attention.lead.text} more.",
        holds=f"Attention is less faithful than {METHODS[first.method]}",
        fails=f"Attention is as faithful as {METHODS[first.method]}",
        undecided=f"Attention and {METHODS[first.method]} cannot be told apart",
        unit="inputs",
    )


def _lead(first: ChosenLayer, other: ChosenLayer) -> Claim:
    score, beside = (method.scores["comprehensiveness"].value for method in (first, other))
    return Claim(score, beside, other.lead, other.both)


def _upper(method: ChosenLayer) -> str:
    return method.name[:1].upper() + method.name[1:]


def target(numbers: Numbers) -> Finding:
    """What importance is of, and of how many inputs."""
    result = numbers.result
    blanks = {"mask": "masked", "unknown": "replaced by the unknown token", "hidden": "hidden from all tokens"}
    inputs = int(result["comprehensiveness_n_examples"].max()) if "comprehensiveness" in result else 0
    return Finding(
        "Target",
        f"{sentence_case(str(result.attrs['target']))}. {inputs:,} inputs were scored; blanked tokens are "
        f"{blanks[str(result.attrs['blank'])]}.",
    )


def special_tokens(numbers: Numbers) -> Iterator[Finding]:
    """The special token with the most attention, and its share of what heads move."""
    shares = (
        numbers.result["importance_share"]
        .sel(attribution=["attention", "norm"], token_class=["cls", "sep"])
        .mean("layer")
    )
    attention = shares.sel(attribution="attention").dropna("token_class")
    if attention.size:
        token = str(attention["token_class"][attention.argmax("token_class")].item())
        looked, moved = (float(shares.sel(token_class=token, attribution=name)) for name in ("attention", "norm"))
        yield Finding(
            "Special tokens",
            f"{label('token_class', token)} gets {looked:.0%} of the attention, and {moved:.0%} of the norm of what "
            "heads move (means over layers).",
        )


def completeness(numbers: Numbers) -> Finding:
    """How near integrated gradients come to adding up to the difference of the target."""
    error = float(numbers.array("completeness_error").max())
    text = "Integrated gradients of a layer miss the difference between an input and its blank input by at most"
    return Finding("Completeness", f"{text} {error:.1%} of the sum of their absolute values (mean over inputs).")


def methods_chart(numbers: Numbers) -> Iterator[Figure]:
    """Methods by faithfulness."""
    methods = chosen(numbers)
    if methods:
        array = numbers.array("chosen_comprehensiveness_gain").drop_vars("n_examples", errors="ignore")
        array = array.sel(attribution=[choice.method for choice in methods])
        array = array.assign_coords(attribution=[choice.name for choice in methods])
        array = array.rename("gain").assign_attrs(
            long_name="Faithfulness: fall of the target, minus that in random order"
        )
        caption = (
            "How much more the target falls without the most important tokens than without random ones, with 95% "
            "intervals. The layer of each method was chosen on one half of the inputs; scores are of the other half."
        )
        yield Figure("methods", BY_METHOD, bars(array), caption, "chosen_comprehensiveness_gain")


def inputs(numbers: Numbers) -> Iterator[Figure]:
    """A few inputs, their tokens coloured by each method."""
    shown = numbers.attribute("inputs")
    scored = "best_layer" in numbers.result  # halves of one scored input choose no layer
    layers = {choice.method: choice.layer for choice in chosen(numbers)} if scored else {}
    last = int(numbers.result["layer"].max())
    for index, example in enumerate(shown, 1):
        order = [*layers, *(name for name in METHODS if name not in layers)]
        rows = {METHODS[name]: example["importance"][name] for name in order if name in example["importance"]}
        indices = {METHODS[name]: layers.get(name, last) - 1 for name in order}
        rows = {name: values[indices[name]] for name, values in rows.items()}
        caption = (
            "Importance of each token by each method at its chosen layer, the most faithful method first; the largest "
            "of a row is 1. Only gradients and values have a sign: orange raises the target, violet lowers it."
        )
        chart = token_rows(example["tokens"], rows, f"Importance of tokens, input {index}", "importance")
        yield Figure(
            f"input-{index}", INPUTS, chart, caption, "importance_share", _table(index, example["tokens"], rows)
        )


def _table(number: int, tokens: list[str], rows: dict[str, list[float]]) -> Table:
    """The importance of each token by each method."""
    lines: list[Any] = [
        ((token,), [(f"{value:.2f}", "") for value in values])
        for token, *values in zip(tokens, *rows.values(), strict=True)
    ]
    columns = tuple(Column(name, name) for name in rows)
    return Table(f"input-{number}", "Importance of tokens", ("Token",), columns, lines)


def layer_chart(name: str) -> Part:
    """A number of each method by layer."""

    def chart(numbers: Numbers) -> Figure:
        array = in_words(numbers.array(name)).drop_vars("n_examples", errors="ignore").rename("gain")
        return Figure(name, LAYERS, matrix(array, side=300), f"{MATRICES[name]} By method and layer.", name)

    return chart


def curves(numbers: Numbers) -> Iterator[Figure]:
    """The target without the most important tokens, and with them alone."""
    methods = chosen(numbers)[:MOST_LINES]
    for name, words in (("deletion", "without"), ("insertion", "with")) if methods else ():
        lines = {
            choice.name: numbers.array(name, attribution=choice.method, layer=choice.layer) for choice in methods
        } | {"random order": numbers.array(f"{name}_random")}
        array = in_series(lines).assign_attrs(numbers.result[name].attrs)
        caption = (
            f"Target {words} a share of the tokens, the most important first, with 95% intervals: the most faithful "
            "methods and random order. After DeYoung et al. (2020)."
        )
        yield Figure(name, CURVES, curve(array, "token_share", percent=True), caption, name)


def classes_chart(numbers: Numbers) -> Figure:
    """Importance by class of token."""
    result = numbers.result
    array = result["importance_share"].mean("layer").assign_attrs(result["importance_share"].attrs)
    caption = "Share of importance of classes of tokens, averaged over layers; token shares are in the tables."
    array = in_words(array).rename("importance_share").assign_attrs(long_name="Importance by class of token")
    return Figure("importance_share", CLASSES, bars(array), caption, "importance_share")


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """Faithfulness; one half of the inputs chooses the layer, where the other has enough."""
    for choice in chosen(numbers):
        array = numbers.array("comprehensiveness_gain").sel(attribution=choice.method, drop=True)
        n = numbers.n("comprehensiveness_gain", attribution=choice.method, layer=choice.layer)
        layer = choice.layer if n >= LEAST_EXAMPLES else None
        yield LayerNumber("Faithfulness of attributions", METHODS[choice.method], array, layer, is_share=False)


MOVED = "Share of the lengths of what each head moves, by class of token. After Kobayashi et al. (2020)."
LIMITS = Finding(
    "Limits",
    "An input with blanked tokens is unlike the training texts, so not only the lost token makes the target fall. "
    "Methods without a sign cannot tell tokens for the target from tokens against it. Scores of "
    "flow are of fewer inputs.",
)
PAGE = StudyParts(
    highlights=(
        *(above_random, most_faithful, attention_beside),
        *(altered_page.erased, altered_page.permuted, altered_page.other, special_tokens),
    ),
    findings=(target, altered_page.heads_alone, altered_page.effective, LIMITS, completeness),
    charts=(
        *(methods_chart, inputs, *map(layer_chart, MATRICES), curves, altered_page.chart, altered_page.layer_chart),
        classes_chart,
        Chart("norm_to", "heatmap", HEADS, MOVED),
        Chart("attention_to", "heatmap", HEADS, "Attention of each head by class of token, of the same inputs."),
    ),
    tables=(methods_table, altered_page.table, altered_page.layer_table, beside_paper),
    by_layer=("norm_to",),
    layers=(layers, altered_page.layers),
    layer_figures=(inputs,),
    card=CARD,
)
