"""The most frequent pattern of each head, and whether it is the same in several corpora."""

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from headscope.results.variables import Label, Variables
from headscope.results.vocabulary import PATTERNS

SOURCE = "Kovaleva et al. 2019, section 4.1"
SAME = Label("share of heads that have the same most frequent pattern in all corpora", "share of heads")


def dominant(share: xr.DataArray) -> xr.DataArray:
    """The pattern with the largest share of a head's maps; "" where there is no such head."""
    names = np.array([*PATTERNS, ""])
    largest = xr.where(share.notnull().all("pattern"), share.fillna(0).argmax("pattern"), -1)
    return largest.copy(data=names[largest.values])


def same_in_all(main: xr.DataArray) -> dict[str, xr.DataArray]:
    """`same_pattern`: the share of heads whose `main` pattern is the same in all tasks; its interval is over heads.

    >>> main = xr.DataArray([[["block", "vertical"]], [["block", "diagonal"]]], dims=("task", "layer", "head"))
    >>> float(same_in_all(main)["same_pattern"])
    0.5
    """
    known = main.isel(task=0) != ""
    same, heads = int(((main == main.isel(task=0)).all("task") & known).sum()), int(known.sum())
    bounds = binomtest(same, heads).proportion_ci(method="wilson")
    variables = Variables({}, SOURCE, {"same_pattern": SAME}, cases="heads behind")
    variables.add("same_pattern", same / heads, interval=[bounds.low, bounds.high], count=heads)
    return variables.arrays
