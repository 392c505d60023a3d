"""The chosen heads by metric, root and special tokens, and those of phrases, beside trees that need no model."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from headscope.report.best_heads import BestHeads, ChosenHead, chosen_heads
from headscope.report.numbers import Numbers
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


def chosen_phrases(numbers: Numbers) -> list[ChosenHead]:
    """The chosen heads of a corpus with phrases, the highest F1 first; gains are over right-branching.

    Raises `MissingNumber` if there is none.
    """
    numbers.array("chosen_f1")
    ordered = numbers.result.sel(distance=list(DISTANCES), special_tokens=list(SPECIAL))
    return _highest_first(chosen_heads(ordered, PHRASES))


def _highest_first(heads: list[ChosenHead]) -> list[ChosenHead]:
    """In the order of scores; of equal ones in the order of the labels above."""
    return sorted((head for head in heads if np.isfinite(head.score.value)), key=lambda head: -head.score.value)


def words_of(tree: ChosenHead) -> str:
    """The way a tree is made, in words."""
    return f"{ROOTS[tree.labels['root']]}, {SPECIAL[tree.labels['special_tokens']]}"


def random_scores(result: xr.Dataset, metric: str, head: ChosenHead) -> list[float]:
    """The score of the best head with random weights, by seed; none where it was not asked for."""
    if head.random is None:
        return []
    return result["random_score_by_seed"].sel(head.labels | {"metric": metric}).values.tolist()


def baseline(result: xr.Dataset, metric: str, name: str) -> Estimate:
    """The score of a tree that needs no model."""
    return estimate(result, "baseline_score", metric=metric, baseline=name)


def attachment_tables(numbers: Numbers) -> Iterator[Table]:
    """The chosen heads of each metric."""
    for metric, words in METRICS.items():
        caption = (
            f"{words} of the best head, in per cent of words with 95% intervals: chosen on one half of the sentences "
            "and scored on the other half. Gain: in points over the best fixed word. Last rows: trees that need no "
            "model."
        )
        rows = [(words_of(tree), _cells(tree)) for tree in chosen(numbers.result, metric)]
        for name in ("right_branching", "left_branching", "fixed_word"):
            score = baseline(numbers.result, metric, name)
            if np.isfinite(score.value):
                rows.append((BASELINES[name], [None, None, score.cell(".1f", 100), None, None]))
        yield titled(f"trees-{metric}", caption, "Tree", TREE_COLUMNS, rows)


def _cells(tree: ChosenHead) -> Cells:
    direction = "both" if tree.labels["root"] == "undirected" else tree.arrow
    return [(tree.head, ""), (direction, ""), *_scores(tree)]


def _scores(head: ChosenHead) -> Cells:
    random = head.random.cell(".1f", 100) if head.random is not None else None
    return [head.score.cell(".1f", 100), head.gain.cell("+.1f", 100), random]


def phrase_table(numbers: Numbers) -> Table:
    """The chosen heads of a corpus with phrases."""
    rows: list[tuple[str, Cells]] = []
    for head in chosen_phrases(numbers):
        cells: Cells = [(SPECIAL[head.labels["special_tokens"]], ""), (head.head, ""), *_scores(head)]
        rows.append((DISTANCES[head.labels["distance"]], cells))
    for name in BASELINES:
        if name != "fixed_word":
            score = estimate(numbers.result, "baseline_f1", baseline=name).cell(".1f", 100)
            rows.append((BASELINES[name], [None, None, score, None, None]))
    caption = (
        "F1 of phrases (times 100): the head that is best on one half of the sentences, scored on the other half. "
        "Gain: over right-branching. Last rows: trees that need no model, on all sentences."
    )
    return titled("phrases", caption, "Tree", PHRASE_COLUMNS, rows)
