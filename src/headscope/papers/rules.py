"""The rules by which a number of a result decides a claim: a small fixed vocabulary.

Each takes an array with its interval, a second one or None, the threshold and the number of examples, and returns a
claim with its difference. No rule reads a file or runs code of an entry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.stats import ttest_ind

from headscope.papers.head_and_layer_rules import (
    falls,
    in_order,
    layers_above,
    most_are_positive,
    most_do_no_harm,
    no_special,
    peaks_in_the_middle,
    rises,
    share_of_special,
    some_head_above,
    some_special,
)
from headscope.report.claims import Claim, above, apart, below, no_worse
from headscope.report.wording import Estimate, of_array

Test = Callable[[xr.DataArray, xr.DataArray | None, float, int], tuple[Claim, str]]


def above_limit(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number is above the limit, or above another number by the limit."""
    number = of_array(array)
    if than is None:
        return above(number, limit, n), ""
    return _by(apart(number, of_array(than), n, least=0), limit), ""


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


def below_over_labels(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The mean over some labels is below that over others, by the limit; its interval is over labels (Welch's t)."""
    assert than is not None  # an entry without it is refused
    lower, higher = (part.values[np.isfinite(part.values)] for part in (array, than))
    value, baseline = float(lower.mean()), float(higher.mean())
    bounds = ttest_ind(higher, lower, equal_var=False).confidence_interval()
    difference = Estimate(baseline - value, float(bounds.low), float(bounds.high))
    return _by(Claim(value, baseline, difference, n), limit), f"{len(lower)} labels, and {len(higher)} others"


def reported(array: xr.DataArray, than: xr.DataArray | None, limit: float, n: int) -> tuple[Claim, str]:
    """The number alone: the claim describes, and no limit decides it."""
    number = of_array(array)
    return Claim(number.value, 0.0, number, n), ""


@dataclass(frozen=True)
class Rule:
    """A rule: its test, and the dimensions of the number that it takes.

    * `dims`: names of dimensions, or None for a number with any.
    * `over`: of what few its error mostly is, "layers", "labels" or "heads", so that more examples hardly decide it.
    * `compares`: whether it takes two numbers, the second by `than`.
    """

    test: Test
    dims: tuple[str, ...] | None = None
    over: str = ""
    compares: bool = False

    @property
    def decides(self) -> bool:
        """False for a number that is only reported."""
        return self.test is not reported


RULES: Mapping[str, Rule] = {
    "some head above": Rule(some_head_above),
    "above": Rule(above_limit, ()),
    "below": Rule(below_limit, ()),
    "beyond random heads": Rule(above_limit, (), over="heads"),
    "not below": Rule(not_below, ()),
    "below over labels": Rule(below_over_labels, over="labels", compares=True),
    "two neighbouring layers above": Rule(layers_above, ("layer",)),
    "rises over layers": Rule(rises, ("layer",), over="layers"),
    "falls over layers": Rule(falls, ("layer",), over="layers"),
    "in order": Rule(in_order, over="layers"),
    "most are positive": Rule(most_are_positive),
    "most do no harm": Rule(most_do_no_harm),
    "some special": Rule(some_special),
    "no special": Rule(no_special),
    "share of special": Rule(share_of_special),
    "peaks in the middle": Rule(peaks_in_the_middle, ("layer",)),
    "reported": Rule(reported, ()),
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
