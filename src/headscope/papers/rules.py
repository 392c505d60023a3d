"""The rules by which a number of a result decides a claim: a small fixed vocabulary.

Each takes an array with its interval, a second one or None, the threshold and the number of examples, and returns a
claim with its difference. No rule reads a file or runs code of an entry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import head_name
from headscope.papers.layer_rules import falls, in_order, layers_above, peaks_in_the_middle, rises
from headscope.report.claims import Claim, above, apart, below, no_worse
from headscope.report.wording import Estimate, of_array
from headscope.statistics.interval_tests import q_above, standard_error
from headscope.statistics.significance import RATE, benjamini_hochberg

Test = Callable[[xr.DataArray, xr.DataArray | None, float, int], tuple[Claim, str]]
HARM = 0.02


def some_head_above(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """Some head, or layer, is above the limit and `than`, corrected for all that are tried; the highest is named."""
    limit += float(than) if than is not None else 0.0
    q = q_above(array, limit)
    flat = array.stack(index=array.dims).dropna("index")
    if q is None:
        top = flat.isel(index=int(np.argmax(flat.values)))
        return above(of_array(top), limit, n), _named(top)
    rates = q.stack(index=q.dims).sel(index=flat["index"])
    sure = (rates < RATE).values
    index = int(np.argmax(np.where(sure, flat.values, -np.inf) if sure.any() else flat["upper"].values))
    top = flat.isel(index=index)
    return above(of_array(top), limit, n, q=float(rates[index])), _named(top)


def above_limit(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number is above the limit, or above another number by the limit."""
    one = of_array(array)
    if than is None:
        return above(one, limit, n), ""
    return _by(apart(one, of_array(than), n, least=0), limit), ""


def below_limit(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number is below the limit, or below another number by the limit."""
    if than is None:
        return below(of_array(array), limit, n), ""
    other = apart(of_array(than), of_array(array), n, least=0)
    return _by(Claim(other.baseline, other.value, other.difference, n), limit), ""


def not_below(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number is not lower than another one, or than 0, by the limit or more (non-inferiority)."""
    if than is None:
        return no_worse(of_array(array), limit, n), ""
    difference = apart(of_array(array), of_array(than), n, least=0)
    return _by(difference, -limit), ""


def most_are_positive(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """More than a share of the numbers are above 0: the bounds are those that surely are, and those that may be."""
    flat = array.values.ravel()
    known = flat[~np.isnan(flat)]
    share, words = float((known > 0).mean()), f"of {len(known)}"
    if "lower" not in array.coords:
        return Claim(share, limit, Estimate(share - limit), n), words
    error = standard_error(array).transpose(*array.dims).values.ravel()[~np.isnan(flat)]
    p = norm.sf(known / np.maximum(error, 1e-12))
    sure = float((benjamini_hochberg(p) < RATE).mean())
    may = float((benjamini_hochberg(1 - p) >= RATE).mean())
    return Claim(share, limit, Estimate(share - limit, sure - limit, may - limit), n), words


def most_do_no_harm(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """For more than a share of the heads the gain is surely no loss of 2 points (non-inferiority, corrected)."""
    return most_are_positive(_raised(array, HARM), than, limit, n)


def some_special(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """At least one head is special (1 if so); `than` is the held-out gain of the best heads, which may exclude it."""
    flags = array.values == 1
    heads = [dim for dim in array.dims if dim not in ("layer", "head")]
    special = (array == 1).any(heads) if heads else array == 1
    count = int(special.sum())
    may = count + (int((than["upper"] > 0.1).sum()) if than is not None and "upper" in than.coords else array.size)
    names = [head_name(*position) for position in zip(*_positions(special), strict=True)]
    words = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Claim(count, 0.0, Estimate(count, count if flags.any() else -1.0, may), n), words


def share_of_special(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """Of all special pairs more than a share lie in `than`, a part of the same array (Wilson's interval)."""
    total, part = int((array == 1).sum()), int((than == 1).sum()) if than is not None else 0
    if not total:
        return Claim(float("nan"), limit, Estimate(float("nan")), n), ""
    share, z = part / total, float(norm.ppf(0.975))
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    return above(Estimate(share, middle - half, middle + half), limit, n), f"{part} of {total} pairs"


@dataclass(frozen=True)
class Rule:
    """A rule: its test, and the dimensions of the number that it takes.

    * `dims`: names of dimensions, or None for a number with any.
    * `over_layers`: whether its error is mostly that of few layers, so that more examples hardly decide it.
    """

    test: Test
    dims: tuple[str, ...] | None = None
    over_layers: bool = False


RULES: Mapping[str, Rule] = {
    "some head above": Rule(some_head_above),
    "above": Rule(above_limit, ()),
    "below": Rule(below_limit, ()),
    "not below": Rule(not_below, ()),
    "two neighbouring layers above": Rule(layers_above, ("layer",)),
    "rises over layers": Rule(rises, ("layer",), over_layers=True),
    "falls over layers": Rule(falls, ("layer",), over_layers=True),
    "in order": Rule(in_order, over_layers=True),
    "most are positive": Rule(most_are_positive),
    "most do no harm": Rule(most_do_no_harm),
    "some special": Rule(some_special),
    "share of special": Rule(share_of_special),
    "peaks in the middle": Rule(peaks_in_the_middle, ("layer",)),
}


def _by(claim: Claim, limit: float) -> Claim:
    """The difference of two numbers, beyond a limit."""
    difference = claim.difference
    return Claim(
        claim.value,
        claim.baseline,
        Estimate(difference.value - limit, difference.lower - limit, difference.upper - limit),
        claim.n,
    )


def _raised(array: xr.DataArray, by: float) -> xr.DataArray:
    made = array.drop_vars([name for name in ("lower", "upper") if name in array.coords]) + by
    return made.assign_coords({name: array[name] + by for name in ("lower", "upper") if name in array.coords})


def _positions(array: xr.DataArray) -> list[list[int]]:
    found = np.argwhere(array.transpose("layer", "head").values)
    return [array[dim].values[found[:, axis]].tolist() for axis, dim in enumerate(("layer", "head"))]


def _named(top: xr.DataArray) -> str:
    labels = {name: top[name].item() for name in top.coords if name in ("layer", "head")}
    if len(labels) == 2:
        return f"head {head_name(labels['layer'], labels['head'])}"
    return f"layer {labels['layer']}" if "layer" in labels else ""
