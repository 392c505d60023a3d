"""The main numbers of other studies at the steps of a training, one by one, and in sentences."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import Finding
from headscope.report.wording import number, spread

# Smaller changes are rounding.
SAME = 1e-5
DIMENSIONS = {"step_number": "main_number", "step_layer_number": "layer_number"}


def study_numbers(result: xr.Dataset, variable: str) -> Iterator[xr.DataArray]:
    """Each number of `step_number` or `step_layer_number`, [step, layer, ...], under its own name and unit."""
    dim = DIMENSIONS[variable]
    for index in range(result.sizes[dim] if variable in result else 0):
        part = with_interval(result, variable).isel({dim: index})
        attrs = {"long_name": str(part[dim].values), "units": str(part.coords.get("number_unit", ""))}
        part = part.drop_vars([name for name in (dim, "number_unit") if name in part.coords])
        if bool(part.notnull().any()):
            yield part.assign_attrs(part.attrs | attrs)


def of_other_studies(result: xr.Dataset) -> Iterator[Finding]:
    """The mean over heads at each step, and how far heads changed from the start to the last step."""
    for part in study_numbers(result, "step_number"):
        means = part.mean(("layer", "head")).dropna("step")
        texts = ", ".join(f"step {int(mean['step'])} {number(float(mean))}" for mean in means)
        yield Finding(part.attrs["long_name"], f"Mean over heads: {texts}.{_change(part)}")


def _change(part: xr.DataArray) -> str:
    """A sentence on how far heads changed from the start to the last step."""
    change = (part.isel(step=-1) - part.isel(step=0)).drop_vars(["lower", "upper"], errors="ignore")
    if not change.count():
        return ""
    if float(abs(change).max()) < SAME:
        return " No head changed from the start to the last step."
    return f" Change of heads from the start to the last step: {spread(change)}."
