"""Both methods in one figure: the mean score over seeds by size, with its 95% interval; first the whole model.

python -m benchmarks.shrink.figure out/shrink-ways/rows.csv accuracy   # out/shrink-ways/methods.svg, .png
"""

import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr
from benchmarks.shrink.ways import METHODS, Row

from headscope.figures.curve import curve
from headscope.figures.export import save
from headscope.studies.training.finetune.layer_changes import over_seeds


def rows_of(path: Path) -> list[Row]:
    """The rows of a file, the whole model first."""
    with path.open(newline="") as file:
        kinds = {"way": str, "path": str, "seed": int}
        return [
            Row(**{name: kinds.get(name, float)(value) for name, value in row.items()}) for row in csv.DictReader(file)
        ]


def scores_of(rows: Sequence[Row], metric: str) -> xr.DataArray:
    """The mean score over seeds, [model, megabytes], with `lower` and `upper`; NaN where there is none.

    * `rows`: the whole model first.
    """
    unshrunk, *others = rows
    ours = [replace(row, way="estimate") if row.way == "both" else row for row in others]
    targets = sorted({row.target for row in ours if row.way in METHODS})
    values = np.full((3, len(METHODS), len(targets) + 1), np.nan)
    for number, way in enumerate(METHODS):
        for column, target in enumerate(targets):
            found = np.array([row.score for row in ours if (row.way, row.target) == (way, target)])
            if len(found):
                values[:, number, column] = found.mean(), *over_seeds(found)
    values[:, :, -1] = unshrunk.score  # the same for all seeds
    dims = ("model", "megabytes")
    coords = {"model": list(METHODS), "megabytes": [*targets, unshrunk.megabytes]}
    array = xr.DataArray(values[0], coords, dims, "score", {"units": metric})
    return array.assign_coords(lower=(dims, values[1]), upper=(dims, values[2]))


def write(rows: Sequence[Row], metric: str, stem: Path) -> list[Path]:
    """Write the figure as SVG and PNG."""
    return save(curve(scores_of(rows, metric), "megabytes"), stem, ("svg", "png"))


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(*write(rows_of(source), sys.argv[2], source.with_name("methods")), sep="\n")
