"""The chosen heads by metric, root and special tokens, and those of phrases, beside trees that need no model."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from headscope.report.best_heads.chosen import BestHeads, ChosenHead, chosen_heads
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, estimate

METRICS = {"uas": "UAS", "uuas": "UUAS"}
ROOTS = {"gold": "gold root", "best": "best root", "undirected": "no root"}
SPECIAL = {"left_out": "words alone", "kept": "special tokens kept"}
BASELINES = {
    "right_branching": "right-branching",
    "left_branching": "left-branching",
    "fixed_word": "best fixed word",
    "balanced": "balanced",
    "random": "random",
}
DISTANCES = {"jensen_shannon": "Jensen-Shannon distance", "hellinger": "Hellinger distance"}
TREES = BestHeads(
    ("root", "special_tokens"),
    score="chosen_score",
    gains=("chosen_gain",),
    direction="chosen_direction",
    random="random_score",
    held_out="chosen_score_n_examples",
    rate="",
)
PHRASES = replace(
    TREES,
    dims=("distance", "special_tokens"),
    score="chosen_f1",
    gains=("gain_f1",),
    direction="",
    random="random_f1",
    held_out="chosen_f1_n_examples",
    prefix="chosen_f1",
)
TREE_COLUMNS = ("Head", "Direction", "Score", "Gain", "Random weights")
PHRASE_COLUMNS = ("Special tokens", "Head", "F1", "Gain", "Random weights")


def chosen(result: xr.Dataset, metric: str) -> list[ChosenHead]:
    """The chosen heads of a metric, the highest scores first; none where a half of the sentences is empty."""
    ordered = result.sel(metric=metric, root=list(ROOTS), special_tokens=list(SPECIAL))
    return _highest_first(chosen_heads(ordered, TREES))


def chosen_phrases(result: xr.Dataset) -> list[ChosenHead]:
    """The chosen heads of a corpus with phrases, the highest F1 first; gains are over right-branching."""
    if "chosen_f1" not in result:
        return []
    return _highest_first(chosen_heads(result.sel(distance=list(DISTANCES), special_tokens=list(SPECIAL)), PHRASES))


def _highest_first(heads: list[ChosenHead]) -> list[ChosenHead]:
    """In the order of scores; of equal ones in the order of the labels above."""
    return sorted((head for head in heads if np.isfinite(head.score.value)), key=lambda head: -head.score.value)


def words_of(tree: ChosenHead) -> str:
    """The way a tree is made, in words."""
    return f"{ROOTS[tree.labels['root']]}, {SPECIAL[tree.labels['special_tokens']]}"


def direction_of(tree: ChosenHead) -> str:
    """The direction in words; a tree without a root has both."""
    return "both" if tree.labels["root"] == "undirected" else tree.arrow


def random_scores(result: xr.Dataset, metric: str, head: ChosenHead) -> list[float]:
    """The score of the best head with random weights, by seed; none where it was not asked for."""
    if head.random is None:
        return []
    return result["random_score_by_seed"].sel(head.labels | {"metric": metric}).values.tolist()


def baseline(result: xr.Dataset, metric: str, name: str) -> Estimate:
    """The score of a tree that needs no model."""
    return estimate(result, "baseline_score", metric=metric, baseline=name)


def tables(result: xr.Dataset) -> list[Table]:
    """One table for each metric, and one of phrases where the corpus has some."""
    return [*(_trees(result, metric) for metric in METRICS), *_phrases(result)]


def _trees(result: xr.Dataset, metric: str) -> Table:
    caption = (
        f"{METRICS[metric]} of the best head, in per cent of words with 95% intervals: chosen on one half of the "
        "sentences and scored on the other half. Gain: in points over the best fixed word. Last rows: trees that "
        "need no model."
    )
    rows = [(words_of(tree), _cells(tree)) for tree in chosen(result, metric)]
    for name in ("right_branching", "left_branching", "fixed_word"):
        score = baseline(result, metric, name)
        if np.isfinite(score.value):
            rows.append((BASELINES[name], [None, None, score.cell(".1f", 100), None, None]))
    return titled(f"trees-{metric}", caption, "Tree", TREE_COLUMNS, rows)


def _cells(tree: ChosenHead) -> Cells:
    return [(tree.head, ""), (direction_of(tree), ""), *_scores(tree)]


def _scores(head: ChosenHead) -> Cells:
    random = head.random.cell(".1f", 100) if head.random is not None else None
    return [head.score.cell(".1f", 100), head.gain.cell("+.1f", 100), random]


def _phrases(result: xr.Dataset) -> Iterator[Table]:
    if not (heads := chosen_phrases(result)):
        return
    rows: list[tuple[str, Cells]] = []
    for head in heads:
        cells: Cells = [(SPECIAL[head.labels["special_tokens"]], ""), (head.head, ""), *_scores(head)]
        rows.append((DISTANCES[head.labels["distance"]], cells))
    for name in BASELINES:
        if name != "fixed_word":
            score = estimate(result, "baseline_f1", baseline=name).cell(".1f", 100)
            rows.append((BASELINES[name], [None, None, score, None, None]))
    caption = (
        "F1 of phrases (times 100): the head that is best on one half of the sentences, scored on the other half. "
        "Gain: over right-branching. Last rows: trees that need no model, on all sentences."
    )
    yield titled("phrases", caption, "Tree", PHRASE_COLUMNS, rows)
