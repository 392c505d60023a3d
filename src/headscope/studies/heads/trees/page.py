"""The page of `trees`: parses of attention alone, beside trees that need no model."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import xarray as xr

from headscope.figures import bars, by_layer, heatmap
from headscope.report.best_heads import ARROWS, ChosenHead
from headscope.report.cards.head_numbers import Row, cases, of_variable, ranked, value
from headscope.report.declared import StudyCard, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import number
from headscope.studies.heads.trees import tables

MAIN = ("dependent_to_head", "left_out", "gold")
TREES, HEADS, PHRASES = "Dependency trees", "Which heads", "Phrases"
# The trees by mean attention of a layer.
LAYER_ROOTS = {"uas": "gold", "uuas": "undirected"}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The best tree of the head, beside right-branching."""
    rows = sorted(of_variable(numbers, "uas"), key=lambda row: -row.value)
    for row in rows[:1]:
        direction, special, root = row.labels
        right = tables.baseline(result, "uas", "right_branching").value
        beside = f"; right-branching trees have {number(right)}" if right == right else ""
        yield Finding(
            "As a parser",
            f"The spanning tree of its attention ({ARROWS[direction]}, {tables.ROOTS[root]}, "
            f"{tables.SPECIAL[special]}) gives {value(row)} of the words their syntactic head ({ranked(row)}){beside}; "
            f"{cases(row)}.",
        )


CARD = StudyCard(main_numbers=(".".join(("uas", *MAIN)),), sentences=sentences)


def best(numbers: Numbers) -> Iterator[Finding]:
    """The best head's trees beside the best fixed word, with their own roots: a gold root favours random trees."""
    for head in _with_best_root(numbers):
        other = tables.baseline(numbers.result, "uas", "fixed_word").value
        fixed = f"; the best fixed word gives {other:.0%}" if isfinite(other) else ""
        share = f"{head.score:.0%} of the words their syntactic head"
        yield Finding.judged(
            head.claim,
            f"The spanning tree of head {head.head} ({tables.words_of(head)}) gives {share}{fixed}.",
            holds=f"Head {head.head} draws trees better than a fixed word does",
            fails="No head draws trees better than a fixed word does",
            undecided="Too few sentences to tell the trees of a head from those of a fixed word",
            unit="held-out words",
        )


def _with_best_root(numbers: Numbers) -> list[ChosenHead]:
    return [head for head in tables.chosen(numbers.result, "uas") if head.labels["root"] == "best"][:1]


def random_weights(numbers: Numbers) -> Iterator[Finding]:
    """The best head beside that of random weights."""
    for head in _with_best_root(numbers):
        if head.random:
            found = f"The best head, {head.head}, gives {head.score:.0%} of the words their syntactic head"
            yield beside_random_seeds(
                "Syntax in the attention of single heads",
                head.score,
                tables.random_scores(numbers.result, "uas", head),
                head.claim,
                f"{found}; with random weights the best head gives {head.random:.0%}.",
                "held-out words",
            )


def best_phrases(numbers: Numbers) -> Iterator[Finding]:
    """The phrases of a head beside right-branching."""
    for head in tables.chosen_phrases(numbers)[:1]:
        right = numbers("baseline_f1", baseline="right_branching")
        yield Finding.judged(
            head.claim,
            f"Those of head {head.head} have an F1 of {100 * head.score.value:.0f}, those of right-branching trees "
            f"{100 * right.value:.0f}.",
            holds=f"Head {head.head} draws phrases better than right-branching does",
            fails="No head draws phrases better than right-branching does",
            undecided="Too few sentences to tell the phrases of a head from right-branching",
            unit="held-out sentences",
        )


def root(numbers: Numbers) -> Iterator[Finding]:
    """How often a tree has the gold root."""
    accuracy = float(numbers.array("root_accuracy").max())
    if tables.chosen(numbers.result, "uas"):
        yield Finding("The root", f"No head finds the root of more than {100 * accuracy:.1f}% of the sentences.")


def averages(numbers: Numbers) -> Finding:
    """The trees of the mean attention of layers, and of all heads."""
    layers, model = numbers.array("layer_uas"), numbers.array("model_uas")
    highest = layers[layers.argmax(...)]
    labels: dict[str, Any] = {str(dim): highest[dim].item() for dim in layers.dims if dim != "layer"}
    means = layers.sel(labels)
    how = f"{ARROWS[labels['direction']]}, {tables.ROOTS[labels['root']]}, {tables.SPECIAL[labels['special_tokens']]}"
    return Finding(
        "Averages of heads",
        f"Mean UAS of the heads of a layer: {100 * float(means.min()):.1f} to {100 * float(means.max()):.1f}% "
        f"({how}); of all heads {100 * float(model.max()):.1f}%. These are scores on all sentences.",
    )


def best_heads(numbers: Numbers) -> Figure:
    """The scores of the best head by root, special tokens and metric."""
    array = numbers.array("chosen_score").drop_vars("n_examples", errors="ignore")
    array = array.transpose("root", "special_tokens", "metric").assign_coords(
        root=[tables.ROOTS[name] for name in array["root"].values.tolist()],
        special_tokens=[tables.SPECIAL[name] for name in array["special_tokens"].values.tolist()],
        metric=[name.upper() for name in array["metric"].values.tolist()],
    )
    scores = {name: tables.baseline(numbers.result, "uas", name) for name in ("right_branching", "fixed_word")}
    shares = [f"{tables.BASELINES[name]} {share:%}" for name, share in scores.items() if isfinite(share.value)]
    without = f" UAS without a model: {', '.join(shares)}." if shares else ""
    caption = (
        "UAS: words that get their syntactic head; UUAS: words linked with it in either direction. The head that is "
        f"best on one half of the sentences, scored on the other half, with 95% intervals.{without}"
    )
    chart = bars(array.assign_attrs(long_name="Words with the right head, in the trees of the best head"))
    return Figure("chosen", TREES, chart, caption, "chosen_score")


def all_heads(numbers: Numbers) -> Iterator[Figure]:
    """UAS of every head, and by layer."""
    uas = numbers.array("uas", root="gold", special_tokens="left_out")
    caption = "UAS of the spanning tree of each head from the gold root, words alone. After Htut et al. (2019)."
    yield Figure("uas", HEADS, heatmap(uas), caption, "uas")
    right = tables.baseline(numbers.result, "uas", "right_branching").value
    rule = {"reference": right, "reference_label": "right-branching"} if isfinite(right) else {}
    yield Figure("uas-by_layer", HEADS, by_layer(uas, **rule), f"{caption} By layer, lines for means.", "uas")


def phrases(numbers: Numbers) -> Iterator[Figure]:
    """F1 of the phrases of every head, and of trees that need no model."""
    f1 = numbers.array("f1", special_tokens="left_out")
    f1 = f1.assign_coords(distance=[tables.DISTANCES[name] for name in f1["distance"].values.tolist()])
    caption = "F1 of the phrases of each head, words alone. After Kim et al. (2020)."
    yield Figure("f1", PHRASES, heatmap(f1), caption, "f1")
    simple = numbers.array("baseline_f1").dropna("baseline")
    simple = simple.assign_coords(baseline=[tables.BASELINES[name] for name in simple["baseline"].values.tolist()])
    yield Figure("baseline_f1", PHRASES, bars(simple), "F1 of trees that need no model.", "baseline_f1")


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """UAS from the gold root in both directions, and UUAS, which has none; no layer is chosen."""
    for metric, name in LAYER_ROOTS.items():
        part = numbers.array(f"layer_{metric}", root=name, special_tokens="left_out")
        directions = part["direction"].values.tolist()
        for direction in directions if metric == "uas" else directions[:1]:
            array = part.sel(direction=direction, drop=True)
            words = f"Syntactic heads (UAS), {ARROWS[direction]}" if metric == "uas" else "Edges (UUAS)"
            if bool(array.notnull().any()):
                yield LayerNumber("Trees by mean attention", words, array)


LIMITS = Finding(
    "Limits",
    "A spanning tree uses all edges of a head at once: a head with one clear relation may have a poor tree. Where "
    "special tokens are nodes, a word that looks at one has no syntactic head. Heads were chosen on "
    "one half of the inputs and scored on the other; the tables by head have all sentences. Roots and punctuation "
    "are not scored.",
)
PAGE = StudyParts(
    highlights=(best, random_weights, best_phrases),
    findings=(root, averages, LIMITS),
    charts=(best_heads, all_heads, phrases),
    tables=(tables.attachment_tables, tables.phrase_table),
    layers=(layers,),
    card=CARD,
)
