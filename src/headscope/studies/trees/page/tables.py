"""The chosen heads by root and special tokens, and those of phrases."""

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import estimate
from headscope.studies.trees.page.summary import (
    BASELINES,
    DISTANCES,
    METRICS,
    SPECIAL,
    ChosenTree,
    baseline,
    chosen,
    chosen_phrases,
)

TREES = ("Head", "Direction", "Score", "Gain", "Random weights")
PHRASES = ("Special tokens", "Head", "F1", "Gain", "Random weights")


def tables(result: xr.Dataset) -> list[Table]:
    """One table for each metric, and one of phrases where the corpus has some."""
    return [*(_trees(result, metric) for metric in METRICS), *_phrases(result)]


def _trees(result: xr.Dataset, metric: str) -> Table:
    caption = (
        f"{METRICS[metric]} of the best head, in per cent of words with 95% intervals: chosen on one half of the "
        "sentences and scored on the other half. Gain: in points over the best fixed offset. Last rows: trees that "
        "need no model."
    )
    rows = [((each.words,), _cells(each)) for each in chosen(result, metric)]
    names = ("right_branching", "left_branching", "fixed_offset")
    simple = [(name, baseline(result, metric, name)) for name in names]
    rows += [
        ((BASELINES[name],), [None, None, each.cell(".1f", 100), None, None])
        for name, each in simple
        if np.isfinite(each.value)
    ]
    return Table(f"trees-{metric}", caption, "", "", ("Tree",), _columns(TREES), rows)


def _cells(each: ChosenTree) -> list[tuple[str, str] | None]:
    random = each.random.cell(".1f", 100) if each.random is not None else None
    return [(each.head, ""), (each.direction, ""), each.score.cell(".1f", 100), each.gain.cell("+.1f", 100), random]


def _phrases(result: xr.Dataset) -> list[Table]:
    chosen_heads = chosen_phrases(result)
    if not chosen_heads:
        return []
    rows = []
    for each in chosen_heads:
        random = each.random.cell(".1f", 100) if each.random is not None else None
        scores = [each.score.cell(".1f", 100), each.gain.cell("+.1f", 100), random]
        rows.append(((DISTANCES[each.distance],), [(SPECIAL[each.special], ""), (each.head, ""), *scores]))
    for name in BASELINES:
        if name != "fixed_offset":
            score = estimate(result, "baseline_f1", baseline=name).cell(".1f", 100)
            rows.append(((BASELINES[name],), [None, None, score, None, None]))
    caption = (
        "F1 of phrases (times 100): the head that is best on one half of the sentences, scored on the other half. "
        "Gain: over right-branching. Last rows: trees that need no model, on all sentences."
    )
    return [Table("phrases", caption, "", "", ("Tree",), _columns(PHRASES), rows)]


def _columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name.lower(), name) for name in names)
