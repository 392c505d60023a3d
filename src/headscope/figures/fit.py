"""A chart at another width: on a wide page, on a phone, in one column of a paper."""

import textwrap
from copy import deepcopy
from typing import Any

from headscope.figures.words import upright, wrapped

Spec = dict[str, Any]
# The width of one column of a two-column paper: 3.3 inches, at 96 pixels an inch.
COLUMN = 317
NARROW = 480
# Room for axes beside panels, between panels, and for a legend on the right, in pixels.
MARGIN, GAP, LEGEND, SCALED = 64, 26, 110, 1.5
LETTER, LABEL, AXIS = 8.2, 6.4, 26
LEGIBLE = 34  # of a cell with its number in it
LABELS = 0.38  # of a narrow chart, for the labels of its rows
MAP_GAP, MAP_WORD, WORD = 2.5, 52, 14  # of an atlas: between maps; of a map with a word under it; of this word
CROWDED = 0.9  # of its own width: words of a tree do not stand beside each other in less


def in_column(spec: Spec, title: bool = True) -> Spec:
    """A specification that takes one column of a paper; its files are as wide as that, see `conversion.to_svg`.

    * `title`: whether its title stands inside, where a paper has a caption.

    >>> "title" in in_column({"title": "Entropy", "width": 600, "mark": "line"}, title=False)
    False
    """
    copy = fitted(spec if title else {key: value for key, value in spec.items() if key != "title"}, COLUMN)
    return copy | {"usermeta": copy.get("usermeta", {}) | {"least_width": COLUMN}}


def fitted(spec: Spec, width: int) -> Spec:
    """A Vega-Lite specification that takes about `width` pixels, with type of the same size; the data are shared.

    Panels stand in fewer columns on a narrow page, charts side by side stand below each other, legends go below.

    >>> fitted({"width": 600, "height": 200, "mark": "line"}, 317)["width"]
    317
    """
    chart = {key: value for key, value in spec.items() if key != "datasets"}
    copy = deepcopy(chart) | ({"datasets": spec["datasets"]} if "datasets" in spec else {})
    _wrap_title(copy, width)
    if width < NARROW:
        _legends_below(copy, width)
        below = {"orient": "bottom", "direction": "horizontal", "columns": 2, "titleLimit": width}
        config = copy.get("config", {})
        axis = config.get("axis", {}) | {"labelOverlap": "parity"}
        copy["config"] = config | {"legend": config.get("legend", {}) | below, "axis": axis}
    if "facet" in copy:
        _facets(copy, width)
    elif "hconcat" in copy:
        _side_by_side(copy, width)
    elif isinstance(copy.get("width"), int | float):
        _single(copy, width)
    return copy


def _single(spec: Spec, width: int) -> None:
    if "ends" in spec.get("usermeta", {}):
        wrapped(spec, width - _label_room(spec))
    elif "longest" in spec.get("usermeta", {}):
        _tree(spec, width)
    elif "columns" in spec.get("usermeta", {}):
        _grid(spec, width)
    elif "atlas" in spec.get("usermeta", {}):
        _atlas(spec, width)
    elif (_has_cells(spec) or "usermeta" in spec) and isinstance(spec.get("height"), int | float):
        across = width - MARGIN - (LEGEND if width >= NARROW else 0)
        _scale(spec, min(SCALED, across / spec["width"]))
    elif isinstance(spec.get("height"), int | float):
        _fit(spec, width)
    else:  # Vega-Lite fits no chart whose height grows with its rows
        spec["width"] = round(width - _label_room(spec))


def _tree(spec: Spec, width: int) -> None:
    """The words of a sentence beside each other, or below each other where there is no room."""
    if width < CROWDED * spec["width"]:
        upright(spec, width - AXIS)
    else:
        _fit(spec, width)


def _grid(spec: Spec, width: int) -> None:
    """Cells with their numbers, or without them where they would overlap."""
    _fit(spec, width)
    if (width - _label_room(spec)) / spec["usermeta"]["columns"] < LEGIBLE:
        spec["layer"] = [layer for layer in spec["layer"] if layer["mark"]["type"] != "text"]


def _atlas(spec: Spec, width: int) -> None:
    """Maps of heads side by side; without words under them where they are narrower than these."""
    layers, heads = spec["usermeta"]["atlas"]
    step = (width - MARGIN) / heads
    if width >= spec["width"] + MARGIN:
        return
    image, frame, word = spec["layer"]
    side, below = step - MAP_GAP, WORD if step >= MAP_WORD else 0
    image["mark"] |= {"width": side, "height": side}
    frame["mark"] |= {"size": side**2, "strokeWidth": 1}
    word["mark"]["dy"] = side / 2 + WORD / 2
    spec["layer"] = [image, frame, word] if below else [image, frame]
    spec |= {"width": heads * step, "height": layers * (step + below)}


def _fit(spec: Spec, width: int) -> None:
    spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}


def _label_room(spec: Spec) -> float:
    """The width of the labels of the rows, in pixels."""
    encodings = [part.get("encoding", {}) for part in (spec, *spec.get("layer", []))]
    rows = next((encoding["y"] for encoding in encodings if "y" in encoding), {})
    data = max(spec.get("datasets", {}).values(), key=len, default=[])
    longest = max((len(str(row.get(rows.get("field"), ""))) for row in data), default=0)
    return AXIS + min((rows.get("axis") or {}).get("labelLimit", 180), LABEL * longest)


def _facets(spec: Spec, width: int) -> None:
    """As many panels in a row as there is room for."""
    panel = spec["spec"]
    room = width - MARGIN - (LEGEND if width >= NARROW else 0)
    across = panel.get("width", 200)
    columns = max(1, min(spec.get("columns", 1), int((room + GAP) // (across + GAP))))
    if width < NARROW and room >= 2 * MARGIN + GAP and columns == 1 and spec.get("columns", 1) > 1 and across < 200:
        columns = 2
    spec["columns"] = columns
    factor = ((room - GAP * (columns - 1)) / columns) / across
    if _has_cells(panel):
        _scale(panel, min(SCALED, factor))
    else:
        panel["width"] = int(min(SCALED, factor) * across)


def _side_by_side(spec: Spec, width: int) -> None:
    parts = spec["hconcat"]
    if sum(part.get("width", 200) + MARGIN for part in parts) > width:
        spec["vconcat"] = spec.pop("hconcat")
        for part in parts:
            across = part.get("width", 200)
            if across + 2 * MARGIN > width:
                _scale(part, (width - 2 * MARGIN) / across)


def _scale(spec: Spec, factor: float) -> None:
    """Change both sides of a chart; its cells keep their shape."""
    for side in ("width", "height"):
        if isinstance(spec.get(side), int | float):
            spec[side] = max(1, round(factor * spec[side]))


def _has_cells(spec: Spec) -> bool:
    mark = spec.get("mark", "")
    return (mark.get("type") if isinstance(mark, dict) else mark) == "rect"


def _wrap_title(spec: Spec, width: int) -> None:
    title = spec.get("title")
    if isinstance(title, dict) and isinstance(title.get("text"), str):
        title["text"] = textwrap.wrap(title["text"], int(width / LETTER)) or [""]


def _legends_below(part: Any, width: int) -> None:
    if isinstance(part, list):
        for inner in part:
            _legends_below(inner, width)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "legend" and isinstance(value, dict) and "labelColor" not in value:
                value |= {"orient": "bottom", "direction": "horizontal", "columns": 2, "titleLimit": width}
                if "gradientLength" in value:
                    value["gradientLength"] = width // 2
            elif key == "axis" and isinstance(value, dict) and "labelLimit" in value:
                value["labelLimit"] = min(value["labelLimit"], round(LABELS * width))
            elif key != "datasets":
                _legends_below(value, width)
