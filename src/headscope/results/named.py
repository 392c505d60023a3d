"""Arrays as variables of a result: with coordinates, labels, intervals and the number of examples behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.vocabulary import BOUNDS


@dataclass(frozen=True)
class Named:
    """What the variables of a result have in common.

    * `coords`: the values of each dimension; `examples`: how many examples there are; `source`: where it is from.
    """

    coords: Mapping[str, Sequence[Any]]
    examples: int
    source: str

    def variable(
        self, values: Any, dims: Sequence[str], long_name: str, units: str, source: str | None = None
    ) -> xr.DataArray:
        """One array with its labels.

        >>> named = Named({"layer": [1, 2]}, examples=408, source="a paper")
        >>> named.variable([0.5, 0.25], ["layer"], "a score", "share").sel(layer=2).item()
        0.25
        """
        coords = {dim: list(self.coords[dim]) for dim in dims}
        labels = {"long_name": long_name, "units": units, "source": source or self.source}
        return xr.DataArray(np.asarray(values), coords, tuple(dims), attrs=labels)

    def estimate(
        self, name: str, values: Any, bounds: Any, dims: Sequence[str], long_name: str, units: str = "score"
    ) -> dict[str, xr.DataArray]:
        """A variable, its 95% interval (last axis of `bounds`), and how many examples it rests on."""
        labels = {"units": units, "source": self.source}
        return {
            name: self.variable(values, dims, long_name, units),
            f"{name}_ci": Named({**self.coords, "bound": BOUNDS}, self.examples, self.source).variable(
                bounds, (*dims, "bound"), f"95% paired bootstrap interval of {long_name}", units
            ),
            f"{name}_n_examples": xr.DataArray(
                self.examples, attrs=labels | {"long_name": f"examples of {long_name}", "units": "examples"}
            ),
        }
