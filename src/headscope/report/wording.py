"""Numbers as words: estimates with their intervals, the strongest heads, the number of examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import xarray as xr
from rich.filesize import decimal

from headscope.figures import with_interval
from headscope.figures.labels import NOTHING, head_name
from headscope.figures.tidy import records

NAMED = 5
# How a published figure was checked.
LEVELS = {
    "P": "read in the paper",
    "R": "from released results",
    "S": "from a copy that quotes it",
    "~": "read off a plot",
}
Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95% interval; NaN bounds where there is none.

    >>> share = Estimate(0.868, 0.851, 0.884)
    >>> share.text, share.percent, share.points, share.cell(".1f", 100)
    ('0.87 [0.85, 0.88]', '86.8% [85.1, 88.4]', '+86.8 [85.1, 88.4]', ('86.8', '85.1, 88.4'))
    >>> Estimate(0.5).text, Estimate(0.5, 0.1, 0.9).is_not(0)
    ('0.50', True)
    """

    value: float
    lower: float = float("nan")
    upper: float = float("nan")

    def __format__(self, spec: str) -> str:
        """As `text`; with "%" as `percent`, with "+" as `points`; the value alone in any other format.

        >>> f"{Estimate(0.868, 0.851, 0.884)}, {Estimate(0.5):%}, {Estimate(-0.5):+}, {Estimate(0.5):.0%}"
        '0.87 [0.85, 0.88], 50.0%, -50.0, 50%'
        """
        words = {"": "text", "%": "percent", "+": "points"}
        return getattr(self, words[spec]) if spec in words else f"{self.value:{spec}}"

    def __neg__(self) -> "Estimate":
        """The value below 0, with its interval."""
        return Estimate(-self.value, -self.upper, -self.lower)

    @property
    def text(self) -> str:
        """The value and its interval, as `number` writes them."""
        return _bracketed(*self.cell())

    @property
    def signed(self) -> str:
        """As `text`, with the sign of the value."""
        return f"{'+' if self.value > 0 else ''}{self.text}"

    @property
    def percent(self) -> str:
        """A share in per cent."""
        value, bounds = self.cell(".1f", 100)
        return _bracketed(f"{value}%", bounds)

    @property
    def points(self) -> str:
        """A difference of shares in points."""
        return _bracketed(*self.cell("+.1f", 100))

    @property
    def tested(self) -> bool:
        """True if there is an interval."""
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))

    def is_not(self, value: float) -> bool:
        """True if the interval excludes a value."""
        return bool(self.lower > value or self.upper < value)

    def cell(self, spec: str = "", scale: float = 1.0) -> Cell:
        """The value and its interval, multiplied by `scale`, as the cell of a table; see `number` for `spec`."""
        value = scale * self.value
        bounds = [number(scale * bound, spec.removeprefix("+")) for bound in (self.lower, self.upper)]
        return number(value, spec), ", ".join(bounds) if self.tested else ""

    def known_cell(self, spec: str = "", scale: float = 1.0) -> Cell | None:
        """As `cell`; None where there is no value."""
        return self.cell(spec, scale) if np.isfinite(self.value) else None


def _bracketed(value: str, bounds: str) -> str:
    return f"{value} [{bounds}]" if bounds else value


def estimate(result: xr.Dataset, name: str, **labels: object) -> Estimate:
    """One number of a result with its interval; of `labels` those along its dimensions count.

    >>> result = xr.Dataset({"uas": 0.5, "uas_ci": ("bound", [0.25, 0.75])}, {"bound": ["lower", "upper"]})
    >>> estimate(result, "uas").percent
    '50.0% [25.0, 75.0]'
    """
    value = float(scalar(result, name, labels))
    if f"{name}_ci" not in result:
        return Estimate(value)
    bounds = scalar(result, f"{name}_ci", labels)
    return Estimate(value, *(float(bounds[_index(result, "bound", bound)]) for bound in ("lower", "upper")))


def scalar(result: xr.Dataset, name: str, labels: Mapping[str, object]) -> np.ndarray:
    """The values of a variable at the labels along its dimensions.

    >>> scalar(xr.Dataset({"uas": ("layer", [0.5, 0.25])}, {"layer": [1, 2]}), "uas", {"layer": 2, "head": 3}).item()
    0.25
    """
    # of variables, not of arrays: pages ask for hundreds of numbers, and to label each takes most of their time
    variable = result.variables[name]
    places = (_index(result, str(dim), labels[str(dim)]) if dim in labels else slice(None) for dim in variable.dims)
    return np.asarray(variable.values[tuple(places)])


def _index(result: xr.Dataset, dim: str, label: Any) -> Any:
    """The index of a label; one that is missing is a `KeyError` as xarray words it."""
    try:
        return result.variables[dim].to_index().get_loc(label)
    except KeyError as error:
        raise KeyError(f"not all values found in index '{dim}'") from error


def of_array(array: xr.DataArray) -> Estimate:
    """The one number of an array, with its coordinates `lower` and `upper`."""
    bounds = [float(array[name]) for name in ("lower", "upper") if name in array.coords]
    return Estimate(float(array), *bounds)


@dataclass(frozen=True, slots=True)
class Reading:
    """The estimate of one head.

    >>> print(Reading("8-10", Estimate(0.868, 0.851, 0.884)))
    8-10 (0.87 [0.85, 0.88])
    """

    head: str
    estimate: Estimate

    @property
    def value(self) -> float:
        """The value alone."""
        return self.estimate.value

    def __str__(self) -> str:
        return f"{self.head} ({self.estimate.text})"


def number(value: float, spec: str = "") -> str:
    """A value with two decimals, three where it is small, two significant digits where it is very small.

    `spec` formats it otherwise, "bytes" with their unit; nothing is written as -0, what rounding leaves of 0 as 0, a
    missing value as "unknown".

    >>> number(0.868), number(0.0123), number(0.00083), number(0.0), number(-4.2e-11), number(-0.0001, "+.1f")
    ('0.87', '0.012', '0.00083', '0.00', '0.00', '0.0')
    """
    if isnan(value):
        return "unknown"
    if spec == "bytes":
        return decimal(round(value))
    if spec:
        written = f"{value:{spec}}"
        return written if float(written) else written.lstrip("+-")
    if abs(value) < NOTHING:
        return "0.00"
    if abs(value) >= 0.1:
        return f"{value:.2f}"
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}"


def higher_or_lower(difference: float) -> str:
    """A difference of shares, in words.

    >>> higher_or_lower(0.0624), higher_or_lower(-0.3), higher_or_lower(0.0001)
    ('6.2 points higher', '30.0 points lower', 'the same')
    """
    points = f"{100 * abs(difference):.1f}"
    return f"{points} points {'higher' if difference > 0 else 'lower'}" if float(points) else "the same"


def rate(q: float) -> str:
    """A p-value or false discovery rate.

    >>> rate(0.0321), rate(0.00002)
    ('0.032', '<0.0001')
    """
    return "<0.0001" if q < 1e-4 else "unknown" if isnan(q) else f"{q:.2g}"


def first_of(names: list[str], most: int, last: str = "; ") -> str:
    """The first names, and the number of further ones.

    >>> first_of(["a", "b", "c"], 2)
    'a; b; and 1 more'
    """
    more = f"{last}and {len(names) - most} more" if len(names) > most else ""
    return last.join(names[:most]) + more


def several(count: int, thing: str) -> str:
    """A count with its noun.

    >>> several(1, "head"), several(3000, "head"), several(0, "head")
    ('1 head', '3,000 heads', 'No head')
    """
    return f"No {thing}" if count == 0 else f"{count:,} {thing}{'' if count == 1 else 's'}"


def sentence_case(words: str) -> str:
    """Words with a capital at their start, and nowhere changed.

    >>> sentence_case("agreement (Spearman)")
    'Agreement (Spearman)'
    """
    return words[:1].upper() + words[1:]


def agree(count: int, one: str, many: str) -> str:
    """The form of a verb that agrees with the noun of `several`.

    >>> agree(1, "beats", "beat"), agree(2, "beats", "beat"), agree(0, "beats", "beat")
    ('beats', 'beat', 'beats')
    """
    return one if count < 2 else many


def measured(result: xr.Dataset, name: str, **labels: object) -> xr.DataArray | None:
    """One variable (or a part of it) with its interval; None where it is missing or has no value."""
    if name not in result:
        return None
    array = with_interval(result, name).sel(labels)
    return None if bool(array.isnull().all()) else array


def strongest(array: xr.DataArray) -> list[Reading]:
    """The heads of an array (layer, head), the largest value first."""
    rows = sorted(records(array), key=lambda row: -row["value"])
    nan = float("nan")
    return [
        Reading(
            head_name(row["layer"], row["head"]), Estimate(row["value"], row.get("lower", nan), row.get("upper", nan))
        )
        for row in rows
    ]


def listed(readings: list[Reading]) -> str:
    """Up to five heads with their values, and the number of further ones.

    >>> listed([Reading("1-2", Estimate(0.9)), Reading("3-4", Estimate(0.8))])
    '1-2 (0.90), 3-4 (0.80)'
    """
    more = len(readings) - NAMED
    return ", ".join(map(str, readings[:NAMED])) + (f" and {more} more" if more > 0 else "")


def spread(array: xr.DataArray) -> str:
    """The smallest and the largest value of an array, and the median: of a description, which names no head.

    All have the decimals of the one that is farthest from 0.

    >>> spread(xr.DataArray([0.1, 0.9, 0.25])), spread(xr.DataArray([-0.0081, 0.22, 0.00058]))
    ('0.10 to 0.90, median 0.25', '-0.01 to 0.22, median 0.00')
    """
    least, most, median = (float(value) for value in (array.min(), array.max(), array.median()))
    farthest = number(max(abs(least), abs(most)))
    spec = f".{len(farthest.partition('.')[2])}f" if farthest.replace(".", "").isdigit() else ""
    return f"{number(least, spec)} to {number(most, spec)}, median {number(median, spec)}"


def examples(array: xr.DataArray) -> str:
    """The number of examples of an array, as the end of a sentence."""
    if (counts := n_examples(array)) is None:
        return ""
    least, most = counts
    return f" n = {several(most, 'example')}." if least == most else f" n = {least:,} to {most:,} examples."


def n_examples(array: xr.DataArray) -> tuple[int, int] | None:
    """The smallest and the largest number of examples of an array; None where none is known.

    >>> n_examples(xr.DataArray([0.5, 0.25, 0.1], {"n_examples": ("head", [3, 7, float("nan")])}, ["head"]))
    (3, 7)
    """
    counts = array["n_examples"].values if "n_examples" in array.coords else np.array(())
    counted = counts[~np.isnan(counts)]
    return (int(counted.min()), int(counted.max())) if counted.size else None


def mean_of_heads(array: xr.DataArray) -> Estimate:
    """The mean over heads; its interval is that of heads that vary together, which is never too narrow.

    >>> mean_of_heads(xr.DataArray([0.1, 0.3], {"lower": ("head", [0.0, 0.25]), "upper": 0.3}, ["head"]))
    Estimate(value=0.2, lower=0.125, upper=0.3)
    """
    bounds = [float(array[name].mean()) for name in ("lower", "upper") if name in array.coords]
    return Estimate(float(array.mean()), *bounds)


def layer_means(array: xr.DataArray) -> dict[int, float]:
    """The mean over the heads of each layer that has a value."""
    means = array.mean("head").dropna("layer")
    return dict(zip(means["layer"].values.tolist(), means.values.tolist(), strict=True))


def layers_named(layers: Sequence[int]) -> str:
    """Some layers in words, in their order.

    >>> layers_named([4]), layers_named([3, 4, 5]), layers_named([2, 6])
    ('layer 4', 'layers 3 to 5', 'layers 2 and 6')
    """
    first, last = layers[0], layers[-1]
    if len(layers) == 1:
        return f"layer {first}"
    if len(layers) > 2 and last - first == len(layers) - 1:
        return f"layers {first} to {last}"
    return f"layers {', '.join(map(str, layers[:-1]))} and {last}"


def peak_layer(array: xr.DataArray) -> int:
    """The layer with the highest mean over its heads."""
    means = layer_means(array)
    return max(means, key=lambda layer: means[layer])
