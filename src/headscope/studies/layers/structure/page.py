"""The page of `structure`: trees in the hidden states of each layer, beside baselines and random weights."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures import curve
from headscope.figures.words import dependency_trees
from headscope.report.claims import Claim, apart, paired, tied, weakest
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Cell, Estimate, estimate, layers_named, sentence_case
from headscope.results import in_series

NAMES = {
    "uuas": "Edges of the tree (UUAS)",
    "root_accuracy": "Roots of sentences",
    "distance_spearman": "Distances (correlation)",
    "norm_spearman": "Depths (correlation)",
}
SHARES = ("uuas", "root_accuracy")
BASELINES = {"embeddings": "embeddings, without context", "decay": "nearest embeddings", "linear": "order of the words"}
ROLE_SCHEMES = {
    "bag_of_words": "no place",
    "left_to_right": "from the left",
    "right_to_left": "from the right",
    "bidirectional": "from both ends",
    "tree": "in the tree",
    "shuffled_tree": "in a shuffled tree",
}
# Hewitt and Manning (2019), Table 1: Penn Treebank with Stanford dependencies.
PAPER = {
    "BERT-base, layer 7 (paper)": (0.798, 0.880, 0.85, 0.87),
    "ELMo, random weights (paper)": (0.598,),
    "Order of the words (paper)": (0.489,),
}
MOST_LINES = 6  # layers, in one figure


def chosen(numbers: Numbers) -> int:
    """The layer whose probe is best on held-out training sentences."""
    return int(numbers.result.attrs["chosen_layer"])


def best_baseline(numbers: Numbers, name: str = "uuas") -> tuple[str, Estimate]:
    """The best baseline by a score: its words, and the score."""
    variable = f"{name}_baseline"
    scores = {label: numbers(variable, baseline=label) for label in numbers.labels(variable, "baseline")}
    label = max(scores, key=lambda label: scores[label].value)
    return BASELINES[label], scores[label]


def over_baseline(numbers: Numbers) -> Claim:
    """Whether the chosen layer is above the best baseline."""
    return apart(numbers("uuas", layer=chosen(numbers)), best_baseline(numbers)[1], numbers.n("uuas"))


def trees(numbers: Numbers) -> Finding:
    """Whether the chosen layer is above the best baseline; the layers that cannot be told from the best are named."""
    layer, (name, base) = chosen(numbers), best_baseline(numbers)
    best = tied({number: numbers("uuas", layer=number) for number in numbers.labels("uuas", "layer")})
    alike = "The layers hold trees, none clearly more than another"
    all_tied = len(best) > 1 and len(best) == numbers.result.sizes["layer"]
    return Finding.judged(
        over_baseline(numbers),
        f"A linear map of layer {layer} gives {numbers('uuas', layer=layer):.0%} of the edges of the trees; {name}: "
        f"{base:.0%}.",
        holds=alike if all_tied else f"Trees are clearest in {layers_named(best)}",
        fails="No layer has more of the trees than a baseline",
        undecided="Too few sentences to tell a layer from a baseline",
        unit="edges",
    )


def roots(numbers: Numbers) -> Finding:
    """Whether the depth probe finds roots better than the best baseline does."""
    layer, (name, base) = chosen(numbers), best_baseline(numbers, "root_accuracy")
    root = numbers("root_accuracy", layer=layer)
    return Finding.judged(
        apart(root, base, numbers.n("root_accuracy")),
        f"The depth probe of layer {layer} finds {root:.0%} of the roots; {name}: {base:.0%}.",
        holds=f"{root:.0%} of the roots are found",
        fails="Roots are found no better than by a baseline",
        undecided="Too few sentences to tell whether roots are found",
        unit="sentences",
    )


def random(numbers: Numbers) -> Finding:
    """The chosen layer beside the same layer with random weights."""
    layer = chosen(numbers)
    uuas, mean = (numbers(name, layer=layer) for name in ("uuas", "uuas_random"))
    scores = numbers.array("uuas_random_by_seed", layer=layer).values.tolist()
    text = f"Layer {layer} gives {uuas:.0%} of the edges, with random weights {mean:.0%}."
    return beside_random_seeds("Syntax in hidden states", uuas, scores, over_baseline(numbers), text, "edges")


def last(numbers: Numbers) -> Iterator[Finding]:
    """Whether the last layer holds less than the chosen one, where that holds trees."""
    layer, end = chosen(numbers), int(numbers.result["layer"].max())
    if end != layer and over_baseline(numbers).verdict == "holds":
        uuas, at_end = (numbers("uuas", layer=number) for number in (layer, end))
        yield Finding.judged(
            apart(uuas, at_end, numbers.n("uuas")),
            f"It gives {at_end:.0%} of the edges, layer {layer} {uuas:.0%}.",
            holds="The last layer holds less",
            fails="The last layer holds no less",
            undecided="It cannot be told whether the last layer holds less",
            unit="edges",
        )


def products(numbers: Numbers) -> Finding:
    """Whether places in the tree leave a smaller error than places in a shuffled tree or counts from an end."""
    layer, n = chosen(numbers), numbers.n("tensor_product_error")
    errors = {scheme: numbers("tensor_product_error", role_scheme=scheme, layer=layer) for scheme in ROLE_SCHEMES}
    tree, shuffled = errors["tree"], errors["shuffled_tree"]
    others = ", ".join(f"{words} {errors[scheme]:.0%}" for scheme, words in [*ROLE_SCHEMES.items()][:-2])
    over_shuffled = paired(shuffled, tree, numbers("tree_roles_gain", layer=layer), n)
    over_ends = [apart(errors[scheme], tree, n) for scheme in ("left_to_right", "right_to_left")]
    return Finding.judged(
        weakest([over_shuffled, *over_ends]),
        f"Words bound to their places in the tree leave {tree:.0%} of the variance of the sentence vectors of layer "
        f"{layer}, places of shuffled trees {shuffled:.0%}; {others}.",
        holds="Sentence vectors hold where words stand in the tree",
        fails="Shuffled trees, or places from an end, describe sentence vectors as well",
        undecided="It cannot be told whether sentence vectors hold where words stand in the tree",
        unit="sentences",
    )


def gain(numbers: Numbers) -> Finding:
    """The gain of the chosen layer over random weights."""
    layer = chosen(numbers)
    return Finding(
        "Beside random weights",
        f"The share of edges of layer {layer} differs from that of the same layer with random weights by "
        f"{numbers('uuas_gain', layer=layer):+} points. What random weights give comes from the words and their "
        "places, and from the probe itself.",
    )


def limits(numbers: Numbers) -> Finding:
    """What the probes were trained on, and what their scores cannot show."""
    training, ranks = numbers.attribute("training"), numbers.attribute("recipe")["ranks"]
    return Finding(
        "Limits",
        f"Probes of rank {', '.join(map(str, ranks))} were trained on {training['sentences']:,} sentences of "
        f"{training['corpus']} and scored on {int(numbers.result.attrs['test_sentences']):,} others. The layer was "
        "chosen on held-out training sentences. A tree that a probe can read is no evidence that the model uses it.",
    )


def by_layer(numbers: Numbers, name: str) -> Figure:
    """A score by layer, beside random weights and the baselines."""
    array = numbers.array(name).drop_vars("n_examples", errors="ignore")
    series = {"hidden states": array}
    if f"{name}_random" in numbers.result:
        series["random weights"] = numbers.array(f"{name}_random")
    for label, words in BASELINES.items():
        constant = numbers.result[f"{name}_baseline"].sel(baseline=label, drop=True).expand_dims(layer=array["layer"])
        series[words] = constant.assign_coords(lower=constant, upper=constant)
    joined = in_series(series).assign_attrs(array.attrs, long_name=NAMES[name])
    caption = (
        f"{sentence_case(array.attrs['long_name'])}; 95% intervals over sentences. Probes of all layers and baselines "
        "are trained the same way. After Hewitt and Manning (2019), Table 1 and Figure 4."
    )
    return Figure(name, "Scores by layer", curve(joined, "layer"), caption, name)


def by_rank(numbers: Numbers, name: str) -> Figure:
    """The score of each rank, of the chosen layer and of others that are evenly spread."""
    variable, layers = f"{name}_by_rank", numbers.result["layer"].values.tolist()
    shown = sorted({chosen(numbers), *(layers[round(at)] for at in np.linspace(0, len(layers) - 1, MOST_LINES))})
    array = numbers.array(variable).sel(layer=shown).assign_attrs(long_name=NAMES[name])
    array = array.rename(layer="series").rename(name).assign_coords(series=[f"layer {number}" for number in shown])
    caption = (
        f"{NAMES[name]} of probes of each rank (number of dimensions), on held-out training sentences; 95% intervals "
        "over sentences. The scores above have the rank with the smallest held-out loss in each layer."
    )
    chart = curve(array.transpose("probe_rank", "series"), "probe_rank")
    return Figure(variable, "Scores by rank", chart, caption, variable)


def errors(numbers: Numbers) -> Figure:
    """The error of tensor products by layer, a line for each scheme of roles."""
    array = numbers.array("tensor_product_error").drop_vars("n_examples", errors="ignore")
    words = [ROLE_SCHEMES[scheme] for scheme in array["role_scheme"].values.tolist()]
    array = array.rename(role_scheme="series").assign_coords(series=words).transpose("layer", "series")
    caption = (
        "Error of sentence vectors as sums of words bound to their places, as a share of their variance; 95% "
        "intervals over sentences. A place is a number from the left, from the right or both, a path in the tree, "
        "or that of another word of the sentence. After McCoy et al. (2019) and Jawahar et al. (2019), section 6."
    )
    chart = curve(array, "layer")
    return Figure("tensor-products", "Words bound to places", chart, caption, "tensor_product_error")


def drawn(numbers: Numbers) -> Iterator[Figure]:
    """Gold and predicted trees of a few sentences."""
    caption = (
        f"Gold tree over the words, and under them the tree of the distance probe of layer {chosen(numbers)}; dashed "
        "edges are wrong. Punctuation is left out. After Hewitt and Manning (2019), Figure 2."
    )
    for number, tree in enumerate(numbers.attribute("trees"), 1):
        chart = dependency_trees(tree["words"], tree["gold"], tree["predicted"])
        yield Figure(f"tree-{number}", "Trees", chart, caption, "uuas", _edges(number, **tree))


def _edges(number: int, words: list[str], gold: list[list[int]], predicted: list[list[int]]) -> Table:
    """The edges of both trees, in the order of the words."""
    both = [{(min(edge), max(edge)) for edge in edges} for edges in (gold, predicted)]
    rows: list[Any] = [
        ((words[first], words[second]), [("yes" if (first, second) in tree else "no", "") for tree in both])
        for first, second in sorted(both[0] | both[1])
    ]
    columns = (Column("gold", "Gold tree"), Column("predicted", "Predicted"))
    return Table(f"tree-{number}", "Edges of the trees", ("Word", "Linked with"), columns, rows)


def layer_number(numbers: Numbers, name: str) -> LayerNumber:
    """A score of each layer; held-out training sentences choose the layer."""
    return LayerNumber("Trees by a linear map", NAMES[name], numbers.array(name), chosen(numbers), name in SHARES)


def scores(numbers: Numbers) -> Table:
    """Layers, then baselines, then the paper."""
    result, best = numbers.result, chosen(numbers)
    rows = [(f"layer {layer}", _scores(result, "", layer=layer)) for layer in result["layer"].values.tolist()]
    if "uuas_random" in result:
        rows.append((f"layer {best}, random weights", _scores(result, "_random", layer=best)))
    rows += [(words, _scores(result, "_baseline", baseline=label)) for label, words in BASELINES.items()]
    for words, published in PAPER.items():
        cells = [_cell(name, Estimate(value)) for name, value in zip(NAMES, published, strict=False)]
        rows.append((words, cells + [None] * (len(NAMES) - len(cells))))
    caption = (
        "Edges and root in per cent, rank correlations for distances and depths, with 95% intervals over sentences. "
        "Paper: Hewitt and Manning (2019), Table 1: Penn Treebank with Stanford dependencies."
    )
    columns = tuple(Column(name, words) for name, words in NAMES.items())
    return Table("scores", caption, ("Vectors",), columns, [((words,), cells) for words, cells in rows])


def _scores(result: xr.Dataset, ending: str, **labels: object) -> Cells:
    return [_cell(name, estimate(result, f"{name}{ending}", **labels)) for name in NAMES]


def _cell(name: str, score: Estimate) -> Cell | None:
    return score.known_cell(".1f", 100) if name in SHARES else score.known_cell(".2f")


def schemes(numbers: Numbers) -> Table:
    """Errors of tensor products: schemes of roles by layer."""
    layers = numbers.array("tensor_product_error")["layer"].values.tolist()
    caption = (
        "Error of the vectors of sentences as tensor products of words and places, in per cent of their variance, "
        "by layer; with the number of roles and of parameters of a layer. After McCoy et al. (2019)."
    )
    columns = [Column(f"layer-{layer}", f"Layer {layer}") for layer in layers]
    columns += [Column("roles", "Roles"), Column("parameters", "Parameters")]
    rows = [((words,), _scheme(numbers.result, scheme, layers)) for scheme, words in ROLE_SCHEMES.items()]
    return Table("tensor-products", caption, ("Place of a word",), tuple(columns), rows)


def _scheme(result: xr.Dataset, scheme: str, layers: list[int]) -> Cells:
    errors = [estimate(result, "tensor_product_error", role_scheme=scheme, layer=layer) for layer in layers]
    sizes = [int(result[f"tensor_product_{name}"].sel(role_scheme=scheme)) for name in ("roles", "parameters")]
    return [*(error.known_cell(".1f", 100) for error in errors), *((f"{size:,}", "") for size in sizes)]


PAGE = StudyParts(
    highlights=(trees, roots, random, last, products),
    findings=(gain, limits),
    charts=(*(partial(chart, name=name) for chart in (by_layer, by_rank) for name in NAMES), errors, drawn),
    tables=(scores, schemes),
    layers=tuple(partial(layer_number, name=name) for name in NAMES),
    layer_figures=(drawn,),
)
