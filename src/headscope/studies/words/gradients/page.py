"""The page of `gradients`: how much the loss depends on attention to each class of token (Clark et al. 2019, 3.2)."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import by_layer, scatter
from headscope.figures.labels import label
from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.claims import below, over_heads, witness
from headscope.report.declared import Chart, StudyCard, StudyParts
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.published import PAPER, PublishedFigure, published_table, separator_figures
from headscope.report.tables import Column, Table
from headscope.report.wording import estimate, examples, layers_named, number, of_array

CLASSES = ("cls", "sep", "punct")
# A gradient is little if it is below this share of that of other tokens. For a claim it has to be below half of that:
# other classes of tokens differ by so much with random weights.
LITTLE, UNUSED = 0.2, 0.1
MASKED = {
    "other": " Masked tokens count as other tokens.",
    "original": " A masked token counts to the class of its original token.",
}
WORDS = {name: label("token_class", name) for name in (*CLASSES, "other")}
WORTH = "A dot for each head. A head on the lower right attends much to the token, but the loss hardly depends on it."
GRADIENT, BESIDE = "Gradient by attention", "Beside the attention"
DOTS = "A dot for each head, a line for the layer's mean."


def dependence(numbers: Numbers) -> Iterator[Finding]:
    """The dependence of the loss on attention to each class, beside the attention itself."""
    for name in numbers.labels("relative_gradient", "token_class"):
        if name in CLASSES:
            relative, share = numbers.array("relative_gradient", token_class=name), attention_to(numbers, name)
            n = int(numbers.result.attrs["n_examples"])
            by_layer = relative.dropna("layer")
            claims = [below(of_array(layer), UNUSED, n) for layer in by_layer]
            claim, idle = claims[at := witness(claims)], idle_layers(relative, UNUSED)
            where = layers_named(idle) if idle else "no layer"
            looked = f"It gets {share.mean():.0%} of the attention; in" if np.isfinite(share.mean()) else "In"
            yield Finding.judged(
                claim,
                f"{looked} layer {int(by_layer[at]['layer'])} the gradient of the loss is {claim.value:.0%} of that of "
                "other tokens.",
                holds=f"Attention to {WORDS[name]} hardly matters to the loss in {where}",
                fails=f"Attention to {WORDS[name]} matters to the loss in all layers",
                undecided=f"Attention to {WORDS[name]} may hardly matter to the loss",
                unit="examples",
            )


def attention_to(numbers: Numbers, name: str) -> np.ndarray:
    """The mean attention to a class by layer."""
    return numbers.result["attention_to"].sel(token_class=name).mean("head").values


def idle_layers(relative: xr.DataArray, limit: float) -> list[int]:
    """The layers whose gradient, relative to that of other tokens, is shown to be below a limit."""
    return [int(layer["layer"]) for layer in relative if of_array(layer).upper < limit]


def use(numbers: Numbers) -> Finding:
    """Whether heads that attend more to separators depend on them."""
    correlation = numbers("rank_correlation", token_class="sep")
    return Finding.judged(
        over_heads(correlation, numbers.result.sizes["layer"] * numbers.result.sizes["head"]),
        f"The rank correlation of attention and gradient over the heads is {number(correlation.value)}.",
        holds=f"Heads that attend more to [SEP] use it {'less' if correlation.value < 0 else 'more'}",
        fails="Attention to [SEP] and its use are not related",
        undecided="Attention to [SEP] and its use: no clear relation",
        unit="",
    )


def loss(numbers: Numbers) -> Finding:
    """Which loss, and of how many examples."""
    array, name = numbers.array("gradient", token_class="other"), str(numbers.result.attrs["loss"])
    masked = MASKED.get(str(numbers.result.attrs.get("masked_class")), "")
    return Finding("The loss", f"{name[:1].upper()}{name[1:]}.{masked}{examples(array)}")


def correlation(numbers: Numbers) -> Finding:
    """Rank correlations of attention and gradient by class."""
    texts = [
        f"{label('token_class', name)} {numbers('rank_correlation', token_class=name)}"
        for name in numbers.labels("rank_correlation", "token_class")
    ]
    return Finding(
        "More attention, less use?",
        f"Rank correlation over heads of attention to a class with its gradient: {', '.join(texts)}. Below 0, heads "
        "that attend to it more depend on it less. Clark et al. found this for [SEP] in BERT-base: from layer 5 on, "
        "attention to it is high and its gradients are very small.",
    )


def beside(numbers: Numbers) -> Iterator[Figure]:
    """Each head's attention to a class and its gradient."""
    for name in ("sep", "cls"):
        both = [numbers.result[variable].sel(token_class=name, drop=True) for variable in ("attention_to", "gradient")]
        if not any(bool(array.isnull().all()) for array in both):
            array = xr.concat(both, xr.Variable("axis", [1, 2]), coords="minimal", compat="override").rename("gradient")
            array = array.assign_attrs(long_name=f"attention to {WORDS[name]} and its gradient", units="")
            titles = (f"Attention to {WORDS[name]}", "Gradient")
            chart = scatter(array.transpose("layer", "head", "axis"), titles=titles)
            yield Figure(f"worth-{name}", BESIDE, chart, WORTH, "gradient")


def from_queries(numbers: Numbers) -> Iterator[Figure]:
    """The gradients of separators and of [CLS] as queries."""
    for group in numbers.labels("gradient_from", "query_group"):
        array = numbers.array("gradient_from", query_group=group).dropna("token_class", how="all")
        words = f"{array.attrs['long_name'].partition(' from ')[0]}, from {label('token_class', group)}"
        caption = f"The same as above for one kind of query: {label('token_class', group)}. {DOTS}"
        chart = by_layer(array.assign_attrs(long_name=words))
        yield Figure(f"gradient_from-{group}", "By kind of query", chart, caption, "gradient_from")


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """The gradient by attention to other tokens, the mean over the heads of each layer, which has no interval."""
    means = numbers.array("gradient", token_class="other").mean("head", keep_attrs=True)
    words = "Gradient of attention to other tokens"
    yield LayerNumber("What the loss depends on", words, means, is_share=False, is_needed=True)


def table(numbers: Numbers) -> Table:
    """One line for each layer: attention, gradient, and gradient relative to other tokens, of each class."""
    there = [name for name in WORDS if name in numbers.labels("gradient", "token_class")]
    kinds = ("attention", "gradient", "relative")
    cells = [(name, kind) for name in there for kind in kinds if (name, kind) != ("other", "relative")]
    columns = tuple(Column(f"{kind}-{name}", f"{WORDS[name]}: {kind}") for name, kind in cells)
    mean = numbers.result[["attention_to", "gradient"]].mean("head").rename(attention_to="attention")

    def cell(layer: int, name: str, kind: str) -> tuple[str, str]:
        if kind == "relative":
            return estimate(numbers.result, "relative_gradient", layer=layer, token_class=name).cell()
        return number(float(mean[kind].sel(layer=layer, token_class=name))), ""

    caption = (
        "Means over the heads of a layer: attention to each class of token, the size of the gradient of the loss by "
        "this attention, and that size relative to other tokens."
    )
    rows = [
        ((layer,), [cell(layer, name, kind) for name, kind in cells])
        for layer in numbers.result["layer"].values.tolist()
    ]
    return Table("worth", caption, ("Layer",), columns, rows)


def published(numbers: Numbers) -> Iterator[Table]:
    """What Clark et al. say of attention to separators and its gradients, beside the result."""
    yield from published_table([*first_small(numbers), *separator_figures(numbers.result)], PUBLISHED)


def first_small(numbers: Numbers) -> Iterator[PublishedFigure]:
    """The first of the last layers that are all below the limit."""
    try:
        relative = numbers.array("relative_gradient", token_class="sep").dropna("layer")
    except MissingNumber:
        return
    large = [int(layer["layer"]) for layer in relative if not of_array(layer).value < LITTLE]
    small = [layer for layer in relative["layer"].values.tolist() if layer > max(large, default=0)]
    words = "layer from which on the gradient by attention to separators is small"
    yield PublishedFigure((words,), (f"layer {small[0]}" if small else "none", ""), "layer 5", PAPER, "P")


PUBLISHED = (
    "BERT-base (uncased, 12 layers) on pairs of paragraphs of Wikipedia of 128 tokens, compared with this model on "
    f"this corpus. Small: below {LITTLE} of the gradient by attention to other tokens; the paper has no limit "
    "and reads it off a figure."
)


def sentences(result: xr.Dataset, rows: list[Row]) -> Iterator[Finding]:
    """The gradient by class, with the attention to the class."""
    attention = {row.words: value(row) for row in of_variable(rows, "attention_to")}
    if gradients := of_variable(rows, "gradient"):
        texts = "; ".join(
            f"{row.words} {value(row)} ({ranked(row)}; attention {attention.get(row.words, 'unknown')})"
            for row in gradients
        )
        loss = str(result.attrs.get("loss", "the loss"))
        yield Finding("Gradient by attention", f"Gradient of {loss}, by attention to {texts}; {cases(gradients[0])}.")


BY_LAYER = f"The loss: {{loss_name}}. {DOTS} After Clark et al. (2019), Figure 3."
PANELS = "The same, head by head; each panel has its own colours."
ATTENTION = f"Attention of the same inputs. {DOTS} After Clark et al. (2019), Figure 2."
LIMITS = Finding(
    "Limits",
    "A gradient changes one weight alone, although a row sums to 1, and describes small changes only. Different "
    "losses have different scales: compare layers and classes, not results of different losses.",
)
PAGE = StudyParts(
    highlights=(dependence, use),
    findings=(loss, correlation, LIMITS),
    charts=(
        Chart("gradient", "by_layer", GRADIENT, BY_LAYER, "gradient-by_layer", drop="token_class"),
        Chart(
            *("gradient", "heatmap", GRADIENT, PANELS, "gradient-heads"),
            drop="token_class",
            style={"shared": False, "columns": 2},
        ),
        Chart("attention_to", "by_layer", BESIDE, ATTENTION, "attention_to-by_layer", drop="token_class"),
        beside,
        from_queries,
    ),
    tables=(table, published),
    layers=(layers,),
    card=StudyCard(main_numbers=("gradient.sep", "gradient.other"), sentences=sentences),
)
