"""The numbers of a result, as the parts of a page ask for them: one that is not there raises `MissingNumber`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from headscope.figures import with_interval
from headscope.report.wording import Estimate, estimate


class MissingNumber(Exception):
    """A number that a result does not have."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a result.

    >>> result = xr.Dataset({"uas": ("layer", [0.5, 0.25])}, {"layer": [1, 2]}, {"suite": "blimp: verbs"})
    >>> numbers = Numbers(result)
    >>> f"{numbers('uas', layer=2):%}", numbers.words["suite_name"]
    ('25.0%', 'blimp')
    """

    result: xr.Dataset
    _whole: dict[str, xr.DataArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, name: str, **labels: Any) -> Estimate:
        """One number, with its interval. Raises `MissingNumber` if the result does not have it, or it is NaN."""
        if name not in self.result:
            raise MissingNumber(name)
        number = estimate(self.result, name, **labels)
        if number.value != number.value:
            raise MissingNumber(name)
        return number

    def array(self, name: str, **labels: Any) -> xr.DataArray:
        """A variable, or the part of it at some labels, with its interval; a list of labels keeps its dimension.

        Raises `MissingNumber` if the result does not have it, or all values are NaN.
        """
        if name not in self.result:
            raise MissingNumber(name)
        if name not in self._whole:
            self._whole[name] = with_interval(self.result, name)
        array = self._whole[name].sel(labels)
        array = array.drop_vars(set(labels) - set(array.dims))
        if bool(array.isnull().all()):
            raise MissingNumber(name)
        return array

    def labels(self, name: str, dim: str) -> list[Any]:
        """The labels of a dimension at which a variable has values. Raises `MissingNumber` if there is none."""
        return self.array(name).dropna(dim, how="all")[dim].values.tolist()

    def n(self, name: str, **labels: Any) -> int:
        """How many cases a number rests on."""
        return int(self.result[f"{name}_n_examples"].sel(labels))

    def attribute(self, name: str) -> Any:
        """An attribute that is written as JSON. Raises `MissingNumber` if the result does not have it."""
        if name not in self.result.attrs:
            raise MissingNumber(name)
        return json.loads(self.result.attrs[name])

    @property
    def main_metric(self) -> str:
        """The first metric of a task, of which claims are."""
        return str(self.result["metric"].values[0])

    @property
    def words(self) -> dict[str, str]:
        """The attributes by name, for captions; `model_name` is what stands before the first colon of `model`."""
        attributes = {str(name): str(value) for name, value in self.result.attrs.items()}
        return attributes | {f"{name}_name": value.partition(":")[0] for name, value in attributes.items()}


@contextmanager
def leaving_out(result: xr.Dataset) -> Iterator[None]:
    """Within this context, a number that the result lacks ends the block without an error."""
    try:
        yield
    except MissingNumber:
        return
    except KeyError as error:
        if not lacks(result, error):
            raise


def lacks(result: xr.Dataset, error: KeyError) -> str:
    """The variable, label or attribute that a result lacks; empty for any other `KeyError`: the code is wrong then."""
    first = error.__cause__ or error  # xarray lists the variables of the result in the second one
    name = first.args[0] if first.args else ""
    is_label = "not all values found in index" in str(error)  # a label may have the name of a variable
    there = not is_label and (name in result.variables or name in result.attrs)
    return "" if there else str(name)
