"""The points at which the loss is computed, and the result's variables."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.training.landscape import STUDY
from headscope.studies.training.landscape.walk import Walk, mean_interval


@dataclass(frozen=True)
class Grid:
    """The points at which the loss is computed.

    * `positions`: along the line; `steps`: along each direction of the plane; `distances`: tried for the width.
    * `seeds`: of the directions, the first two of which are those of the plane; `rise`: of the loss, in nats.
    """

    positions: Float[np.ndarray, " position"]
    steps: Float[np.ndarray, " step"]
    distances: Float[np.ndarray, " distance"]
    seeds: list[int]
    rise: float

    @property
    def stages(self) -> int:
        """The number of points and directions, as progress counts them."""
        return len(self.positions) + len(self.steps) ** 2 + len(self.seeds)

    def measured(self, walk: Walk, settings: Settings) -> "Landscape":
        """The losses of a walk and the widths of its directions."""
        line = walk.along(self.positions)
        settings.on_progress(len(self.positions))
        plane = walk.plane((self.seeds[0], self.seeds[1]), self.steps)
        settings.on_progress(plane.size)
        widths = []
        for seed in self.seeds:
            widths.append(walk.width(seed, self.rise, self.distances))
            settings.on_progress(1)
        return Landscape(line, plane, np.array(widths))


@dataclass(frozen=True)
class Landscape:
    """The losses along the line and over the plane of a model, and the width of each direction."""

    line: Float[np.ndarray, "position example"]
    plane: Float[np.ndarray, "step step"]
    widths: Float[np.ndarray, " direction"]


def to_variables(measured: Mapping[str, Landscape], grid: Grid, corpus: Corpus, settings: Settings) -> xr.Dataset:
    """The result's variables; intervals of losses are those over examples, of widths those over directions."""
    coords = {
        "init": list(measured),
        "position": grid.positions.tolist(),
        "first_step": grid.steps.tolist(),
        "second_step": grid.steps.tolist(),
        "direction_number": list(range(1, len(grid.seeds) + 1)),
    }
    variables, landscapes = Variables(coords, STUDY.source, STUDY.labels), list(measured.values())
    draws = poisson_draws(corpus.units, settings.seed, settings.resamples)
    drawn = draws.sum(1, keepdims=True)
    shares = np.divide(draws, drawn, out=np.full(draws.shape, np.nan), where=drawn > 0)
    units = equal_units(corpus.units)
    bounds = [interval(shares @ landscape.line.T, units) for landscape in landscapes]
    count = corpus.n_examples
    variables.add("line_loss", [landscape.line.mean(1) for landscape in landscapes], interval=bounds, count=count)
    variables.add("plane_loss", [landscape.plane for landscape in landscapes])
    widths = [mean_interval(landscape.widths) for landscape in landscapes]
    variables.add("width", [landscape.widths.mean() for landscape in landscapes], interval=widths)
    variables.add("direction_width", [landscape.widths for landscape in landscapes])
    return xr.Dataset(variables.arrays)
