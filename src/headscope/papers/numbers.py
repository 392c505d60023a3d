"""Numbers of a result that claims speak of, with their intervals."""

from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import t

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.papers.entry_file import ClaimedNumber

SINKS = ("cls", "sep")
BOUNDS = ("lower", "upper")
ENDS = {"first": 0, "last": -1}


# What a claim may require of a model and its corpus: a number of a result that is 0 without it, and what is said then.
REQUIRED = {
    "later tokens": ("attention_offset", {"offset": 1}, "no token of this model sees a later one"),
    "separators": ("token_share", {"token_class": "sep"}, "the inputs of this model have no separator"),
    "punctuation": ("token_share", {"token_class": "punct"}, "the corpus has neither periods nor commas"),
}


class LackingError(LookupError):
    """A result lacks the number, or the labels, of a claim."""


def take(result: xr.Dataset, number: ClaimedNumber) -> xr.DataArray:
    """The number with its dimensions that are left, and the coordinates `lower` and `upper` of its interval.

    The bounds of a mean are the means of the bounds: wide enough however the numbers depend on each other.

    Raises `LackingError` if the result has no such number.
    """
    if number.variable not in result:
        raise LackingError(number.variable)
    array = with_interval(result, number.variable)
    for dim, label in number.at.items():
        if dim not in array.dims:
            raise LackingError(dim)
        array = selected(result, array, dim, label)
    if number.share_of and number.share_of not in result:
        raise LackingError(number.share_of)
    if missing := set(number.mean) - set(map(str, array.dims)):
        raise LackingError(", ".join(missing))
    array = averaged(array, number.mean)
    factor = number.times / (float(result[number.share_of]) if number.share_of else 1.0)
    return _changed(array, lambda values: values * factor)


def absent(result: xr.Dataset, requires: tuple[str, ...]) -> str:
    """What a requirement lacks in a result's model or corpus; "" if nothing, or if that is not known.

    >>> shares = xr.DataArray([0.1, 0.0], {"token_class": ["cls", "sep"]})
    >>> absent(xr.Dataset({"token_share": shares}), ("separators",))
    'the inputs of this model have no separator'
    """
    for name in requires:
        variable, label, reason = REQUIRED[name]
        if variable in result and float(result[variable].sel(label).max()) == 0:
            return reason
    return ""


def over_seeds(result: xr.Dataset, number: ClaimedNumber) -> xr.DataArray:
    """As `take`, with intervals over examples and, where the result has `VARIABLE_by_seed`, also over seeds.

    Both errors add as those of independent draws: the t interval over seeds, and the interval over examples.
    """
    array = take(result, number)
    if (name := f"{number.variable}_by_seed") not in result or "lower" not in array.coords:
        return array
    by_seed = result[name]
    for dim, label in number.at.items():
        by_seed = selected(result, by_seed, dim, label)
    seeds = by_seed.mean(list(number.mean)).count("seed")
    spread = by_seed.mean(list(number.mean)).std("seed", ddof=1) * t.ppf(0.975, seeds - 1) / np.sqrt(seeds)
    half = abs(number.times) * spread
    below, above = array - array["lower"], array["upper"] - array
    bounds = {"lower": array - np.hypot(below, half), "upper": array + np.hypot(above, half)}
    return array.assign_coords({name: bound.drop_vars(list(bound.coords)) for name, bound in bounds.items()})


def place_of(number: xr.DataArray) -> str:
    """The head or the layer that a number is of, in words; "" for neither."""
    labels = {name: number[name].item() for name in ("layer", "head") if name in number.coords}
    if len(labels) == 2:
        return f"head {head_name(**labels)}"
    return f"layer {labels['layer']}" if "layer" in labels else ""


def averaged(array: xr.DataArray, dims: Any) -> xr.DataArray:
    """The mean over dimensions, of the bounds too; missing values are left out."""
    return _changed(array, lambda values: values.mean(list(dims))) if dims else array


def sink(result: xr.Dataset) -> str:
    """The special token that gets more attention, by the mean over heads; `LackingError` without such numbers."""
    if "attention_to" not in result:
        raise LackingError("attention_to")
    means = result["attention_to"].mean(["layer", "head"]).sel(token_class=list(SINKS)).dropna("token_class")
    if not means.size:
        raise LackingError("special tokens")
    return str(means["token_class"].values[int(np.argmax(means.values))])


def selected(result: xr.Dataset, array: xr.DataArray, dim: str, label: Any) -> xr.DataArray:
    """A part of an array: of one label without the dimension, of a list of labels with it.

    `sink`, `first` and `last` are labels; `others` are all but the last, `nearest X` is the number that is nearest,
    `best VARIABLE` where that variable of the same dimension is highest.
    """
    labels = array[dim].values.tolist()
    if isinstance(label, list) or label == "others":
        wanted = labels[:-1] if label == "others" else label
        if not wanted or not set(wanted) <= set(labels):
            raise LackingError(f"{dim} {label}")
        return array.sel({dim: wanted})
    if label in labels:
        return array.sel({dim: label})
    word, _, rest = str(label).partition(" ")
    if word == "best":
        chosen = result[rest] if rest in result else None
        if chosen is None or bool(chosen.isnull().all()):
            raise LackingError(rest)
        return array.isel({dim: int(np.nanargmax(chosen.values))})
    if word == "nearest":
        return array.sel({dim: float(rest)}, method="nearest")
    if word in ENDS:
        return array.isel({dim: ENDS[word]})
    if word == "sink":
        return array.sel({dim: sink(result)})
    raise LackingError(f"{dim} {label}")


def _changed(array: xr.DataArray, change: Any) -> xr.DataArray:
    """The array and its bounds, each changed in the same way; the smallest number of examples of any value."""
    coords = {name: array[name] for name in (*BOUNDS, "n_examples") if name in array.coords}
    plain = array.drop_vars(list(coords))
    changed = change(plain)
    for name, values in coords.items():
        bare = values.drop_vars([other for other in (*BOUNDS, "n_examples") if other in values.coords])
        if name in BOUNDS:
            changed = changed.assign_coords({name: change(bare)})
        else:
            changed = changed.assign_coords({name: bare.where(plain.notnull(), bare.max()).min()})
    return changed
