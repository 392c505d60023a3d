"""Findings of the loss around trained models: width, and what lies on the line to the model."""

import json
from collections.abc import Iterator

import xarray as xr

from headscope.report.claims import apart
from headscope.report.parts import Finding
from headscope.report.wording import estimate, number, several

START = {"finetuned": "from pre-trained weights", "random": "from random weights"}


def findings(result: xr.Dataset) -> list[Finding]:
    """Whether the model from pre-trained weights lies in a wider minimum; the widths; the loss along the lines."""
    return [*_wider(result), *_widths(result), *_lines(result)]


def _wider(result: xr.Dataset) -> Iterator[Finding]:
    inits = result["init"].values.tolist() if "width" in result else []
    if set(inits) < set(START):
        return
    one, other = (estimate(result, "width", init=init) for init in START)
    if one.value != one.value or other.value != other.value:
        return
    rise = _rise(result)
    for init, words in START.items():
        if (fall := _fall(result, init)) < rise:
            yield Finding(
                "The widths cannot be compared",
                f"The loss of the model that was trained {words} falls by {number(fall)} over its training, less than "
                f"the rise of {number(rise)} that bounds a width: it lies on a plateau, not in a minimum.",
            )
            return
    directions = result.sizes["direction_number"]
    yield Finding.judged(
        apart(one, other, directions, least=0.0),
        f"The loss rises by less than {number(rise)} within {one.text} lengths of the filters around the model that "
        f"was trained from pre-trained weights, and within {other.text} around that from random weights; over "
        f"{several(directions, 'random direction')}.",
        holds="From pre-trained weights the model ends in a wider minimum",
        fails="From pre-trained weights the model does not end in a wider minimum",
        undecided="It cannot be told which model ends in a wider minimum",
        unit="directions",
    )


def _widths(result: xr.Dataset) -> Iterator[Finding]:
    """The widths, and the directions along which the loss did not rise enough."""
    if "width" not in result or "direction_width" not in result:
        return
    most = 2 * float(json.loads(str(result.attrs.get("recipe", "{}"))).get("radius", "inf"))
    for init in result["init"].values.tolist():
        width = estimate(result, "width", init=init)
        if width.value == width.value:
            values = result["direction_width"].sel(init=init)
            beyond = int((values >= most - 1e-9).sum())
            text = f"Width {width.text} lengths of the filters, from {number(float(values.min()))} to "
            text += f"{number(float(values.max()))} along single directions."
            if beyond:
                text += f" Along {several(beyond, 'direction')} the loss did not rise enough within the radius."
            yield Finding(f"Width {START.get(init, init)}", text)


def _lines(result: xr.Dataset) -> Iterator[Finding]:
    """The loss at the start and the end of each line, and the highest between them."""
    if "line_loss" not in result:
        return
    for init in result["init"].values.tolist():
        loss = result["line_loss"].sel(init=init).dropna("position")
        within = loss.where((loss["position"] >= 0) & (loss["position"] <= 1), drop=True)
        if within.size > 1:
            start, end = float(within[0]), float(within[-1])
            highest = float(within.max()) - max(start, end)
            barrier = f"; between them it rises {number(highest)} above the higher one" if highest > 0 else ""
            yield Finding(
                f"Line {START.get(init, init)}",
                f"The loss falls from {number(start)} to {number(end)} along the straight line from start to end"
                f"{barrier}."
                if end < start
                else f"The loss is {number(start)} at the start and {number(end)} at the "
                f"end of the straight line{barrier}.",
            )


def _fall(result: xr.Dataset, init: str) -> float:
    """How much lower the loss is at the end of a line than at its start; NaN without a line."""
    if "line_loss" not in result:
        return float("nan")
    start, end = (float(result["line_loss"].sel(init=init).sel(position=at, method="nearest")) for at in (0, 1))
    return start - end


def _rise(result: xr.Dataset) -> float:
    return float(json.loads(str(result.attrs.get("recipe", "{}"))).get("rise", "nan"))
