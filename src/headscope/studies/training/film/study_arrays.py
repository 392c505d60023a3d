"""The numbers of other studies at all steps, as arrays with one name for each number."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.vocabulary import BOUNDS


def common_name(names: list[str]) -> str:
    """What the names of one number at all steps share: a label that only some have is left open.

    >>> common_name(["syntax: accuracy: all, head → dependent", "syntax: accuracy: all"])
    'syntax: accuracy: all'
    """
    parts = [name.split(", ") for name in names]
    shared = ", ".join(part for part in parts[0] if all(part in others for others in parts))
    return shared or names[0].rpartition(":")[0]


def stacked(of_steps: list[dict[str, xr.DataArray]], shape: Mapping[str, int]) -> tuple[list[str], np.ndarray]:
    """The names of all numbers of some steps, and their values and bounds, [name, step, *shape, value or bound].

    NaN where a step, a layer or a head lacks a number, or a number has no interval.

    * `shape`: the number of layers, and of heads where there are any.

    >>> number = xr.DataArray([0.5], {"layer": [2]}, ("layer",))
    >>> names, values = stacked([{"a": number}, {}], {"layer": 2})
    >>> names, values[0, 0, :, 0].tolist()
    (['a'], [nan, 0.5])
    """
    names = list(dict.fromkeys(name for numbers in of_steps for name in numbers))
    values = np.full((len(names), len(of_steps), *shape.values(), 1 + len(BOUNDS)), np.nan)
    for step, of_step in enumerate(of_steps):
        for name, array in of_step.items():
            labels = {dim: np.arange(1, size + 1) for dim, size in shape.items()}
            full = array.reindex(labels).transpose(*shape)
            parts = [full, *(full[bound] for bound in BOUNDS if bound in full.coords)]
            for column, part in enumerate(parts):
                values[names.index(name), step, ..., column] = part.values
    return names, values
