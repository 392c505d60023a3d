"""Scores of all tasks in one table: the chosen layer beside baselines, and the mix of layers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import Cell, Estimate, estimate
from headscope.studies.layers.page.summary import tasks

BY_LAYER: tuple[str, ...] = ()
COLUMNS = {
    "layer": "Layer",
    "score": "Score",
    "embeddings": "Embeddings",
    "majority": "Most frequent",
    "random": "Random weights",
    "selectivity": "Selectivity",
    "compression": "Compression",
    "centre_of_gravity": "Centre",
    "expected_layer": "Expected layer",
}


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each task."""
    caption = (
        "Score of a linear classifier in per cent (right cases; for numbers the share of the variance) in the layer "
        "that held-out sentences choose, with 95% intervals; random weights in the same layer; selectivity in points."
    )
    columns = tuple(Column(name, words) for name, words in COLUMNS.items())
    return [Table("scores", caption, ("Task",), columns, list(_rows(result)))]


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], list[Cell | None]]]:
    for each in tasks(result):
        place = {"task": each.name, "layer": each.layer}
        yield (
            (each.words,),
            [
                (str(each.layer), ""),
                each.score.cell(".1f", 100),
                each.embeddings.cell(".1f", 100),
                each.majority.cell(".1f", 100),
                _cell(result, "score_random", place, ".1f", 100),
                _cell(result, "selectivity", place, "+.1f", 100),
                _cell(result, "compression", place, ".2f"),
                _cell(result, "centre_of_gravity", {"task": each.name}, ".2f"),
                _cell(result, "expected_layer", {"task": each.name}, ".2f") if _gains(result, each.name) else None,
            ],
        )


def _gains(result: xr.Dataset, task: str) -> bool:
    """Whether all layers together add to the score of the embeddings in a mix."""
    if "cumulative_score" not in result:
        return False
    scores = result["cumulative_score"].sel(task=task)
    return float(scores[-1]) > float(scores[0])


def _cell(result: xr.Dataset, name: str, place: dict[str, Any], spec: str, scale: float = 1.0) -> Cell | None:
    if name not in result:
        return None
    value: Estimate = estimate(result, name, **place)
    return value.cell(spec, scale) if np.isfinite(value.value) else None
