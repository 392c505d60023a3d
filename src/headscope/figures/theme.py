"""Fonts, colours and sizes that all figures share."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.labels import name_in_words, of_model

FONT = "Arial, 'Liberation Sans', sans-serif"  # metric-compatible: a figure measures the same wherever it is drawn
# White is zero; from there the lightness falls steadily, also for colour-blind eyes.
SEQUENTIAL = ("#ffffff", "#e8f4ee", "#c3e6dc", "#8fd0cb", "#55b4c5", "#2b8fbd", "#2166a8", "#253c8f", "#081d58")
DIVERGING = ("#542788", "#8073ac", "#b2abd2", "#d8daeb", "#ffffff", "#fee0b6", "#fdb863", "#e08214", "#b35806")
CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#56b4e9", "#555555", "#882255", "#117733")
INK, GREY, RULE = "#1f2933", "#52606d", "#d9dee4"

_AXIS = {
    "labelColor": INK,
    "titleColor": INK,
    "titleFontWeight": "normal",
    "domainColor": RULE,
    "tickColor": RULE,
    "gridColor": "#eceff3",
    "labelFontSize": 11,
    "titleFontSize": 12,
}
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": _AXIS,
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold", "title": None},
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleLimit": 260,
        "labelLimit": 260,
    },
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "subtitleColor": GREY, "subtitleFontSize": 12},
}


def finished(chart: Any, title: str | list[str], description: str) -> Any:
    """The chart with its title or the lines of it, the description that screen readers speak, and the shared look."""
    # set, not added by Altair's methods: each of them copies and checks the whole chart
    chart.title, chart.description, chart.config = alt.TitleParams(title, offset=12), description, _config()
    return chart


def layered(*layers: alt.Chart, **properties: Any) -> alt.LayerChart:
    """Marks over each other in one panel with these properties; `alt.layer` copies each of them three times.

    >>> base = alt.Chart(alt.InlineData(values=()))
    >>> layered(base.mark_bar(), base.mark_rule(), width=520).to_dict() == (
    ...     alt.layer(base.mark_bar(), base.mark_rule()).properties(width=520).to_dict()
    ... )
    True
    """
    chart, data = alt.LayerChart(), layers[0].data
    if all(layer.data is data for layer in layers):
        chart.data = data
        for layer in layers:
            layer.data = alt.Undefined
    chart.layer = list(layers)
    for name, value in properties.items():
        chart[name] = value
    return chart


@cache
def _config() -> alt.Config:
    return alt.Config(**CONFIG)


def conditional(channel: Callable[..., Any], test: Any, then: Any, otherwise: Any) -> Any:
    """A channel with one value for the marks that satisfy a test or a selection, and another for all others.

    >>> conditional(alt.ColorValue, "datum.value > 0.5", "white", "black").to_dict(validate=False)
    {'condition': {'test': 'datum.value > 0.5', 'value': 'white'}, 'value': 'black'}
    """
    # the channel as an object: Altair takes longer to make one of a dict or a text than for all other parts of a chart
    return channel(**alt.condition(test, alt.value(then), alt.value(otherwise)))


def named(array: xr.DataArray) -> str:
    """The title of a variable: its long name, else its name."""
    text = of_model(str(array.attrs.get("long_name", array.name)))
    return text[:1].upper() + text[1:]


def quantity(array: xr.DataArray) -> str:
    """The title of the axis of the values: the variable and its units, or units that say it all.

    >>> quantity(xr.DataArray(1.5, name="entropy", attrs={"units": "nats"}))
    'Entropy (nats)'
    >>> quantity(xr.DataArray(0.5, name="distance_spearman", attrs={"units": "Spearman correlation"}))
    'Spearman correlation'
    """
    units = str(array.attrs.get("units", ""))
    text = name_in_words(str(array.name))
    if units.startswith("share") or units.endswith("correlation"):
        text = units
    elif units not in ("", "1", "score"):
        text = f"{text} ({units})"
    return text[:1].upper() + text[1:]


def extent(array: xr.DataArray) -> tuple[float, float]:
    """The smallest and the largest value, from 0 where none is negative."""
    low, high = float(array.min()), float(array.max())
    return (min(low, 0.0), high) if math.isfinite(low) else (0.0, 1.0)


def is_signed(array: xr.DataArray) -> bool:
    """True if values lie below 0 by more than rounding.

    >>> is_signed(xr.DataArray([0.5, -0.1])), is_signed(xr.DataArray([0.5, -1e-9]))
    (True, False)
    """
    return bool(array.min() < -1e-3 * max(float(array.max()), 0.0))


def colours(array: xr.DataArray, *, diverging: bool, domain: tuple[float, float] | None = None) -> alt.Scale:
    """The colour scale of values: white to dark, or two colours around white at 0; `domain`: by default their range."""
    low, high = domain or extent(array)
    if diverging:
        far = max(abs(low), abs(high)) or 1.0
        return _stops(-far, far, DIVERGING)
    return _stops(low, high if high > low else low + 1.0, SEQUENTIAL)


def _stops(low: float, high: float, palette: tuple[str, ...]) -> alt.Scale:
    """The colours at equal distances; Vega interpolates between them, not in HCL, where white has no hue."""
    stops = np.linspace(low, high, len(palette)).tolist()
    return alt.Scale(domain=stops, range=list(palette), clamp=True, interpolate="rgb")


def shades(count: int) -> list[str]:
    """Colours from light to dark for things that have an order, such as layers.

    >>> shades(2), len(shades(12))
    (['#8fd0cb', '#081d58'], 12)
    """
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in SEQUENTIAL[3:]])
    places = np.linspace(0, len(stops) - 1, count)
    parts = [np.interp(places, range(len(stops)), channel).round().astype(int) for channel in stops.T]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*parts, strict=True)]


def ticks(count: int) -> list[int]:
    """The numbers of 1..count that an axis labels: all up to 16, then every fourth.

    >>> ticks(6), ticks(24)
    ([1, 2, 3, 4, 5, 6], [1, 4, 8, 12, 16, 20, 24])
    """
    return list(range(1, count + 1)) if count <= 16 else [1, *range(4, count + 1, 4)]


def hover(array: xr.DataArray) -> list[alt.Tooltip]:
    """The hint of a mark: the head or other dimensions, the value, its interval, the number of examples."""
    dims = [str(dim) for dim in array.dims]
    hints = [alt.Tooltip("name:N", title="head")] if {"layer", "head"} <= set(dims) else []
    if {"other_layer", "other_head"} <= set(dims):
        hints.append(alt.Tooltip("other_name:N", title="other head"))
    paired = {"layer", "head", "other_layer", "other_head"} if hints else set()
    hints += [alt.Tooltip(f"{dim}:N", title=dim.replace("_", " ")) for dim in dims if dim not in paired]
    hints.append(alt.Tooltip("value:Q", title=quantity(array), format=".4f"))
    bounds = {"lower": "95% interval from", "upper": "to"}
    hints += [alt.Tooltip(f"{key}:Q", title=text, format=".4f") for key, text in bounds.items() if key in array.coords]
    if "n_examples" in array.coords:
        hints.append(alt.Tooltip("n_examples:Q", title="examples", format=","))
    return hints
