"""What changed between two saved results of one study: the difference of each number, with its interval."""

import json

import numpy as np
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.results.files import means

SAME = {"study": "studies", "corpus_sha256": "corpora"}


def changes(before: xr.Dataset, after: xr.Dataset) -> xr.Dataset:
    """The numbers of a result minus those of an earlier one, as a result of `compare`.

    Each number becomes `difference_NAME` with the dimension `model`. The similarity of attention, and intervals that
    are paired by example, need the models: these intervals are of independent samples (Zou and Donner 2008, MOVER), and
    too wide where both results read the same texts.

    Raises `HeadscopeError` for results of two studies or corpora, or without a number in common.
    """
    for name, words in SAME.items():
        if before.attrs.get(name) != after.attrs.get(name):
            both = " and ".join(f"'{result.attrs[name.removesuffix('_sha256')]}'" for result in (before, after))
            raise HeadscopeError(f"the results are of two {words} ({both}); compare results of one")
    reference, later = str(before.attrs["model"]), str(after.attrs["model"])
    later = later if later != reference else f"{later} (2)"
    variables: dict[str, xr.DataArray] = {}
    for name in means(before):
        if name in after and before[name].dtype.kind == after[name].dtype.kind == "f" and _fits(before, after, name):
            variables |= _change(before, after, name)
    if not variables:
        raise HeadscopeError("the results have no number of the same heads in common; compare results of one shape")
    hashes = {reference: before.attrs["model_sha256"], later: after.attrs["model_sha256"]}
    attributes = {name: value for name, value in before.attrs.items() if name not in ("command", "duration_s")}
    attributes |= {
        "study": "compare",
        "model": f"{reference} → {later}",
        "reference": reference,
        "compared": json.dumps({reference: before.attrs["model"], later: after.attrs["model"]}),
        "compared_sha256": json.dumps(hashes),
    }
    by_model = {name: array.expand_dims(model=[later]) for name, array in variables.items()}
    return xr.Dataset(by_model, attrs=attributes)


def _fits(before: xr.Dataset, after: xr.Dataset, name: str) -> bool:
    """Whether a number has the same labels in both results."""
    return before[name].dims == after[name].dims and all(
        np.array_equal(before[dim].values, after[dim].values) for dim in before[name].dims
    )


def _change(before: xr.Dataset, after: xr.Dataset, name: str) -> dict[str, xr.DataArray]:
    """The difference of a number, its interval, and how many cases the smaller of both has."""
    change, first, second = f"difference_{name}", before[name], after[name]
    labels = first.attrs | {"long_name": f"change since the first model of {first.attrs['long_name']}"}
    arrays = {change: (second - first).assign_attrs(labels)}
    interval, cases = f"{name}_ci", f"{name}_n_examples"
    if interval in before and interval in after:
        (low, high), (lowest, highest) = (
            [result[interval].sel(bound=bound, drop=True) for bound in ("lower", "upper")] for result in (before, after)
        )
        below = np.hypot(second - lowest, high - first)
        above = np.hypot(highest - second, first - low)
        bounds = xr.concat([arrays[change] - below, arrays[change] + above], before["bound"]).transpose(..., "bound")
        arrays[f"{change}_ci"] = bounds.assign_attrs(before[interval].attrs)
    if cases in before and cases in after:
        fewer = before[cases].where(before[cases] <= after[cases], after[cases])
        arrays[f"{change}_n_examples"] = fewer.assign_attrs(before[cases].attrs)
    return arrays
