"""Numbers of heads as words: values with their intervals, the strongest heads, how many examples."""

from dataclasses import dataclass

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.figures.tidy import tidy

NAMED = 5


@dataclass(frozen=True, slots=True)
class Reading:
    """The value of one head, with its interval where there is one.

    >>> print(Reading("8-10", 0.868, 0.851, 0.884))
    8-10 (0.87 [0.85, 0.88])
    """

    head: str
    value: float
    lower: float | None = None
    upper: float | None = None

    def __str__(self) -> str:
        bounds = "" if self.lower is None or self.upper is None else f" [{number(self.lower)}, {number(self.upper)}]"
        return f"{self.head} ({number(self.value)}{bounds})"


def number(value: float) -> str:
    """A value with two decimals, three where it is small, two significant digits where it is very small.

    >>> number(0.868), number(0.0123), number(0.00083), number(0.0)
    ('0.87', '0.012', '0.00083', '0.00')
    """
    if abs(value) >= 0.1 or value == 0:
        return f"{value:.2f}"
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}"


def several(count: int, thing: str) -> str:
    """A count with its noun.

    >>> several(1, "head"), several(3, "head"), several(0, "head")
    ('1 head', '3 heads', 'No head')
    """
    return f"No {thing}" if count == 0 else f"{count} {thing}{'' if count == 1 else 's'}"


def measured(result: xr.Dataset, name: str, **place: object) -> xr.DataArray | None:
    """One variable (or a part of it) with its interval; None where it is missing or has no value."""
    if name not in result:
        return None
    array = with_interval(result, name).sel(place)
    return None if bool(array.isnull().all()) else array


def strongest(array: xr.DataArray) -> list[Reading]:
    """The heads of an array (layer, head), the largest value first."""
    rows = tidy(array).sort_values("value", ascending=False, kind="stable").to_dict("records")
    return [
        Reading(head_name(row["layer"], row["head"]), row["value"], row.get("lower"), row.get("upper")) for row in rows
    ]


def listed(readings: list[Reading]) -> str:
    """Up to five heads with their values, and how many more there are.

    >>> listed([Reading("1-2", 0.9), Reading("3-4", 0.8)])
    '1-2 (0.90), 3-4 (0.80)'
    """
    more = len(readings) - NAMED
    return ", ".join(map(str, readings[:NAMED])) + (f" and {more} more" if more > 0 else "")


def examples(array: xr.DataArray) -> str:
    """On how many examples an array rests, as the end of a sentence."""
    if "n_examples" not in array.coords:
        return ""
    least, most = int(array["n_examples"].min()), int(array["n_examples"].max())
    return f" n = {most:,} examples." if least == most else f" n = {least:,} to {most:,} examples."


def layer_means(array: xr.DataArray) -> dict[int, float]:
    """The mean over the heads of each layer."""
    means = array.mean("head")
    return dict(zip(means["layer"].values.tolist(), means.values.tolist(), strict=True))


def peak(array: xr.DataArray) -> str:
    """The layer with the highest mean over its heads."""
    means = layer_means(array)
    layer = max(means, key=lambda one: means[one])
    return f"layer {layer} (mean over its heads {number(means[layer])})"
