"""Figures of `trees`: chosen heads beside baselines, and the scores of all heads."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.report.best_heads.chosen import ARROWS
from headscope.report.parts import Figure, LayerNumber
from headscope.studies.trees.page.tables import BASELINES, DISTANCES, ROOTS, SPECIAL, baseline

WITHOUT_MODEL = ("right_branching", "fixed_word")
TREES, HEADS, PHRASES = "Dependency trees", "Which heads", "Phrases"
# The trees by mean attention of a layer.
LAYER_ROOTS = {"uas": "gold", "uuas": "undirected"}


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    return [*_chosen(result), *_heads(result), *_phrases(result)]


def _chosen(result: xr.Dataset) -> Iterator[Figure]:
    array = with_interval(result, "chosen_score").drop_vars("n_examples", errors="ignore")
    array = array.transpose("root", "special_tokens", "metric")
    array = array.assign_coords(
        root=[ROOTS[name] for name in array["root"].values.tolist()],
        special_tokens=[SPECIAL[name] for name in array["special_tokens"].values.tolist()],
        metric=[name.upper() for name in array["metric"].values.tolist()],
    )
    array = array.assign_attrs(long_name="Words with the right head, in the trees of the best head")
    caption = (
        "UAS: words that get their syntactic head; UUAS: words linked with it in whatever direction. The head that is "
        f"best on one half of the sentences, scored on the other half, with 95% intervals.{_without_model(result)}"
    )
    yield Figure("chosen", TREES, bars(array), caption, "chosen_score")


def _without_model(result: xr.Dataset) -> str:
    """The UAS of trees that need no model, in a sentence."""
    simple = {words: baseline(result, "uas", name) for name, words in BASELINES.items() if name in WITHOUT_MODEL}
    shares = [f"{words} {share.percent}" for words, share in simple.items() if share.value == share.value]
    return f" UAS without a model: {', '.join(shares)}." if shares else ""


def _heads(result: xr.Dataset) -> Iterator[Figure]:
    uas = with_interval(result, "uas").sel(root="gold", special_tokens="left_out", drop=True)
    caption = "UAS of the spanning tree of each head from the gold root, words alone. After Htut et al. (2019)."
    yield Figure("uas", HEADS, heatmap(uas), caption, "uas")
    reference = baseline(result, "uas", "right_branching").value
    rule = {"reference": reference, "reference_label": "right-branching"} if reference == reference else {}
    yield Figure("uas-by_layer", HEADS, by_layer(uas, **rule), f"{caption} By layer, lines for means.", "uas")


def _phrases(result: xr.Dataset) -> Iterator[Figure]:
    if "f1" in result:
        part = with_interval(result, "f1").sel(special_tokens="left_out", drop=True)
        part = part.assign_coords(distance=[DISTANCES[name] for name in part["distance"].values.tolist()])
        caption = "F1 of the phrases of each head, words alone. After Kim et al. (2020)."
        yield Figure("f1", PHRASES, heatmap(part), caption, "f1")
        simple = with_interval(result, "baseline_f1").dropna("baseline")
        simple = simple.assign_coords(baseline=[BASELINES[name] for name in simple["baseline"].values.tolist()])
        yield Figure("baseline_f1", PHRASES, bars(simple), "F1 of trees that need no model.", "baseline_f1")


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """UAS from the gold root in both directions, and UUAS, which has none; no layer is chosen."""
    for metric, root in LAYER_ROOTS.items():
        part = with_interval(result, f"layer_{metric}").sel(root=root, special_tokens="left_out", drop=True)
        directions = part["direction"].values.tolist()
        for direction in directions if metric == "uas" else directions[:1]:
            array = part.sel(direction=direction, drop=True)
            words = f"Syntactic heads (UAS), {ARROWS[direction]}" if metric == "uas" else "Edges (UUAS)"
            if bool(array.notnull().any()):
                yield LayerNumber("Trees by mean attention", words, array)
