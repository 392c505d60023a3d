"""Figures as files for a paper: SVG, PDF and PNG, made without a network."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from headscope.errors import HeadscopeError
from headscope.extras import require
from headscope.files import write_atomically

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
PNG_SCALE = 2
FORMATS = ("svg", "pdf", "png")


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite specification as SVG; nothing is fetched.

    Raises `HeadscopeError` if vl-convert is not installed.
    """
    return require("vl_convert").vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


def save(chart: alt.TopLevelMixin, stem: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `stem.svg`, `stem.pdf` and `stem.png`, or some of them, each whole or not at all; return their paths.

    Raises `HeadscopeError` for another format, without vl-convert, or if the folder cannot be written to.
    """
    return save_spec(chart.to_dict(), Path(stem), formats)


def save_spec(spec: dict[str, Any], stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the files of a chart's Vega-Lite specification; see `save`."""
    if unknown := set(formats) - set(FORMATS):
        raise HeadscopeError(f"figure format '{min(unknown)}' is unknown; use {', '.join(FORMATS)}")
    if not formats:
        return []
    picture = svg(spec)
    return [write_atomically(stem.with_name(f"{stem.name}.{name}"), of_svg(picture, name)) for name in formats]


def of_svg(picture: str, format: str) -> bytes:
    """The content of a file of an SVG picture; `format` is one of `FORMATS`."""
    convert: dict[str, Callable[[], bytes]] = {
        "svg": picture.encode,
        "pdf": lambda: require("vl_convert").svg_to_pdf(picture),
        "png": lambda: require("vl_convert").svg_to_png(picture, scale=PNG_SCALE),
    }
    return convert[format]()
