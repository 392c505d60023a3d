"""The page of `induction`: heads that look at earlier copies, at sinks and far back, and heads that copy."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import xarray as xr

from headscope.figures import curve, heatmap
from headscope.report.declared import Chart, Part, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.published import HALF, PAPER, PLOT, PublishedFigure, heads_above, most_of_layers, published_table
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import (
    agree,
    estimate,
    layers_named,
    listed,
    measured,
    n_examples,
    several,
    spread,
    strongest,
)
from headscope.statistics.significance import GAIN
from headscope.studies.heads.induction.card import CARD, FOCUS_WORDS, KINDS, WORDS
from headscope.studies.heads.induction.claims import causal, chosen_head, copying, planted, repetition, sinks

NAMED = 3
REPEATS, FAR, SINKS, COPIES = "Repetitions", "Planted pairs", "Sinks", "Copying"
COLUMNS = ("Head", "Attention", "Without", "Gain", "Heads", "Heads in the corpus", "Tokens")
PUBLISHED = (
    "BERT-base (uncased, 12 layers) on pairs of paragraphs of Wikipedia of 128 tokens, compared with this model on "
    "this corpus. For repeated random tokens, planted pairs and copying, no published figures of an encoder were found."
)


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first where no claim holds."""
    text = "None is shown to do so, to copy, to find a planted pair, or to have a sink."
    return Finding("No head clearly follows repetitions", text)


def natural(numbers: Numbers) -> Iterator[Finding]:
    """The heads that follow the repetitions of the corpus."""
    for relation in numbers.labels("natural_special", "relation"):
        gain = numbers.array("natural_gain", relation=relation)
        count, tokens = special_count(numbers, "natural_special", relation), (n_examples(gain) or (0, 0))[1]
        other = "uniform attention" if relation == "previous" else "pairs of tokens of the same distances"
        yield Finding(
            f"In the corpus: {WORDS[relation]}",
            f"{several(count, 'head')} of {int(gain.notnull().sum())} {agree(count, 'gives', 'give')} it at least "
            f"{GAIN} more than {other}. Gains: {spread(gain)}. n = {tokens:,} tokens.",
        )


def special_count(numbers: Numbers, name: str, relation: str) -> int:
    """The number of heads that gain enough beyond chance."""
    return int((numbers.array(name, relation=relation) == 1).sum())


def windows(numbers: Numbers) -> Finding:
    """Local layers, by the configuration and by attention; how far heads look."""
    result = numbers.result
    back, possible = result["farthest_back"], int(result["farthest_possible"])
    window = result["window"] if "window" in result else back.where(back < 0)
    farthest = xr.concat([back, result["farthest_forward"]], "side").max("side")
    odd = [
        int(layer) for layer in back["layer"].values[(farthest != window.fillna(possible).clip(max=possible)).values]
    ]
    agreed = f"not as the configuration says in {layers_named(odd)}" if odd else "as the configuration says"
    local = [int(layer) for layer in back["layer"].values[window.notnull().values]]
    lengths = ", ".join(f"{length:,.0f}" for length in sorted(set(window.dropna("layer").values.tolist())))
    seen = f"{layers_named(local).capitalize()} see {lengths} tokens far" if local else "No layer is local"
    distance = measured(result, "mean_distance")
    mean = "" if distance is None else f" Farthest on average: {listed(strongest(distance)[:NAMED])} tokens."
    text = f"{seen}; in {possible + 1:,} tokens attention reaches {agreed}.{mean}"
    return Finding("Local and global layers", text)


def left_out(numbers: Numbers) -> Iterator[Finding]:
    """What was not measured, and why."""
    for what, reason in numbers.attribute("left_out").items():
        yield Finding(f"Not measured: {what}", f"{reason[:1].upper()}{reason[1:]}.")


def in_words(name: str, section: str, dim: str, words: dict[str, str], caption: str, **style: Any) -> Part:
    """A map of all heads for each label of a dimension, in these words."""

    def chart(numbers: Numbers) -> Figure:
        array = numbers.array(name).dropna(dim, how="all")
        array = array.assign_coords({dim: [words[label] for label in array[dim].values.tolist()]})
        return Figure(name, section, heatmap(array, **style), caption, name)

    return chart


def gains(name: str, where: str) -> Part:
    """A map of the gains of all heads."""
    caption = (
        f"Attention of each head along links in {where}, minus that without a repetition (for the previous token, that "
        "of uniform attention). A head that always looks at one distance gains nothing."
    )
    return in_words(name, REPEATS, "relation", WORDS, caption, diverging=True)


def by_depth(numbers: Numbers) -> Figure:
    """The gain of the best head of each length of texts by where the pair stands."""
    gain = numbers.array("finder_gain").dropna("context", how="all").drop_vars("n_examples", errors="ignore")
    gain = gain.assign_coords(context=[f"{context:,} tokens" for context in gain["context"].values.tolist()])
    caption = (
        "Attention from the last token of a text of random tokens to the token after its only earlier copy, minus "
        "that without the copy, by place of the copy. The best head of each length, on texts that did not choose it, "
        "with 95% intervals."
    )
    return Figure(
        "finder_gain", FAR, curve(gain.transpose("depth", "context"), "depth", percent=True), caption, "finder_gain"
    )


def table(numbers: Numbers) -> Table:
    """The relations, each with its chosen head and the number of heads that are special."""
    caption = (
        "The head with the largest gain in repeated random tokens, chosen on one half of the sequences and scored on "
        "the other, with 95% intervals. Without: attention to the same places where nothing is repeated; for the "
        "previous token that of uniform attention. Heads: those that gain 0.1 or more beyond chance, in random tokens "
        "and in the corpus."
    )
    relations = numbers.labels("chosen_layer", "relation")
    rows = [(WORDS[relation].capitalize(), _cells(numbers, relation)) for relation in relations]
    return titled("relations", caption, "Attention to", COLUMNS, rows)


def _cells(numbers: Numbers, relation: str) -> Cells:
    result = numbers.result.sel(relation=relation)
    counts = {name: result[name] for name in ("special", "natural_special")}
    return [
        (chosen_head(numbers, "chosen", relation=relation), ""),
        *(estimate(result, f"chosen_{name}").known_cell(".2f") for name in ("attention", "control", "gain")),
        *(
            (several(int((heads == 1).sum()), "head"), "") if heads.notnull().any() else None
            for heads in counts.values()
        ),
        (f"{numbers.n('chosen_attention', relation=relation):,}", ""),
    ]


def published(numbers: Numbers) -> list[Table]:
    """Published shares of attention to separators and to the previous token (Clark et al. 2019)."""
    return published_table([*delimiters(numbers.result), *previous(numbers.result)], PUBLISHED)


def delimiters(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The layer with most attention to delimiters."""
    if (shares := measured(result, "sink_attention", focus="delimiter")) is not None:
        text = "largest mean attention of a layer to delimiters"
        yield PublishedFigure((text,), most_of_layers(shares), "0.575 (layer 9)", PLOT, "~")


def previous(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The heads that look at the previous token."""
    if (shares := measured(result, "natural_attention", relation="previous")) is not None:
        text = "heads with more than half of their attention to the previous token"
        yield PublishedFigure((text,), heads_above(shares, HALF), "4 heads, in layers 2, 4, 7, 8", PAPER, "P")


PAGE = StudyParts(
    highlights=(
        partial(repetition, relation="induction"),
        partial(repetition, relation="duplicate"),
        planted,
        copying,
        sinks,
    ),
    findings=(partial(repetition, relation="previous"), causal, natural, windows, left_out),
    charts=(
        gains("gain", "repeated random tokens"),
        gains("natural_gain", "the corpus"),
        by_depth,
        in_words(
            *("sink_attention", SINKS, "focus", FOCUS_WORDS),
            "Attention of each head to tokens that often are attention sinks.",
        ),
        in_words(
            *("value_norm", SINKS, "focus", FOCUS_WORDS),
            "Norm of what a head moves from these tokens, divided by that from other tokens (Kobayashi et al. 2020).",
        ),
        Chart(
            *("copying", "heatmap", COPIES),
            "Share of tokens whose own logit a head raises above the mean where it looks at them; chance is 0.5.",
        ),
        Chart(
            *("copy_loss_rise", "heatmap", REPEATS),
            "Rise of the loss of a second copy of random tokens, in nats a token, with the head replaced by its mean.",
        ),
        Chart(
            *("mean_distance", "by_layer", "Distance"),
            "A dot for each head, a line for the layer's mean: how far away the tokens are that it attends to.",
        ),
    ),
    tables=(table, published),
    by_layer=("gain", "copy_loss_rise", "copying", "sink_attention", "mean_distance"),
    kinds=KINDS,
    card=CARD,
    no_claim=no_claim,
)
