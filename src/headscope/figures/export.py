"""Figures as files for a paper: SVG, PDF and PNG, made without a network."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from headscope.errors import HeadscopeError
from headscope.extras import require
from headscope.figures.conversion import FORMATS, from_svg, to_files, to_svg
from headscope.storage.files import write_atomically

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
DEFAULT_FORMATS = ("svg",)

Converter = Callable[[dict[str, Any], str, Sequence[str]], dict[str, bytes]]


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite specification as SVG; nothing is fetched.

    Raises `HeadscopeError` if vl-convert is not installed.
    """
    require("vl_convert")
    return to_svg(spec, VEGA_LITE)


def save(chart: alt.TopLevelMixin, stem: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `stem.svg`, `stem.pdf` and `stem.png`, or some of them; return their paths.

    Raises `HeadscopeError` for another format, without vl-convert, or if the folder cannot be written to.
    """
    return save_spec(chart.to_dict(), Path(stem), formats)


def save_spec(
    spec: dict[str, Any], stem: Path, formats: Sequence[str] = DEFAULT_FORMATS, convert: Converter = to_files
) -> list[Path]:
    """Write the files of a chart's Vega-Lite specification, each whole or not at all; see `save`."""
    if unknown := set(formats) - set(FORMATS):
        raise HeadscopeError(f"figure format '{min(unknown)}' is unknown; use {', '.join(FORMATS)}")
    if not formats:
        return []
    require("vl_convert")
    contents = convert(spec, VEGA_LITE, formats)
    return [write_atomically(stem.with_name(f"{stem.name}.{name}"), content) for name, content in contents.items()]


def of_svg(picture: str, format: str) -> bytes:
    """The content of a file of an SVG picture; `format` is one of `FORMATS`."""
    require("vl_convert")
    return from_svg(picture, format)
