"""The chosen heads by root and special tokens, and those of phrases."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.best_heads.chosen import ChosenHead
from headscope.report.best_heads.parts import Cells, table
from headscope.report.tables import Table
from headscope.report.wording import estimate
from headscope.studies.trees.page.summary import (
    BASELINES,
    DISTANCES,
    METRICS,
    SPECIAL,
    baseline,
    chosen,
    chosen_phrases,
    direction_of,
    words_of,
)

TREES = ("Head", "Direction", "Score", "Gain", "Random weights")
PHRASES = ("Special tokens", "Head", "F1", "Gain", "Random weights")


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
    return table(f"trees-{metric}", caption, "Tree", TREES, rows)


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
    yield table("phrases", caption, "Tree", PHRASES, rows)
