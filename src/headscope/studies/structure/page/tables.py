"""The scores of all layers and baselines in one table, beside those of the paper."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import Cell, Estimate, estimate
from headscope.studies.structure.page.summary import BASELINES, NAMES, PAPER, SHARES


def tables(result: xr.Dataset) -> list[Table]:
    """Layers, then baselines, then the paper."""
    caption = (
        "Edges and root in per cent, rank correlations for distances and depths, with 95% intervals over sentences. "
        "Paper: Hewitt and Manning (2019), Table 1: Penn Treebank with Stanford dependencies."
    )
    columns = tuple(Column(name, words) for name, words in NAMES.items())
    return [Table("scores", caption, ("Vectors",), columns, list(_rows(result)))]


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], list[Cell | None]]]:
    for layer in result["layer"].values.tolist():
        yield (f"layer {layer}",), [_cell(name, estimate(result, name, layer=layer)) for name in NAMES]
    if "uuas_random" in result:
        best = int(result.attrs["chosen_layer"])
        scores = [_cell(name, estimate(result, f"{name}_random", layer=best)) for name in NAMES]
        yield (f"layer {best}, random weights",), scores
    for label, words in BASELINES.items():
        yield (words,), [_cell(name, estimate(result, f"{name}_baseline", baseline=label)) for name in NAMES]
    for words, scores in PAPER.items():
        yield (
            (words,),
            [_cell(name, Estimate(value)) for name, value in zip(NAMES, scores, strict=False)]
            + [None] * (len(NAMES) - len(scores)),
        )


def _cell(name: str, score: Estimate) -> Cell | None:
    if not np.isfinite(score.value):
        return None
    return score.cell(".1f", 100) if name in SHARES else score.cell(".2f")
