"""Figures as files for a paper: SVG, PDF and PNG, drawn without a network."""

import os
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from headscope.errors import HeadscopeError

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
PNG_SCALE = 2


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite specification as SVG; nothing is fetched."""
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


def save(chart: alt.TopLevelMixin, stem: str | Path) -> list[Path]:
    """Write `stem.svg`, `stem.pdf` and `stem.png`, each whole or not at all; return their paths.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    return save_spec(chart.to_dict(), Path(stem))


def save_spec(spec: dict[str, Any], stem: Path) -> list[Path]:
    """As `save`, for a chart's specification."""
    drawn = svg(spec)
    contents = {
        ".svg": drawn.encode(),
        ".pdf": vl_convert.svg_to_pdf(drawn),
        ".png": vl_convert.svg_to_png(drawn, scale=PNG_SCALE),
    }
    return [write_whole(stem.with_name(stem.name + suffix), content) for suffix, content in contents.items()]


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file, whole or not at all; return its path.

    Raises `HeadscopeError` if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}-") as scratch:
            unfinished = Path(scratch) / path.name
            unfinished.write_bytes(content)
            os.replace(unfinished, path)
    except OSError as error:
        raise HeadscopeError(f"'{path}' cannot be written: {error.strerror or error}") from error
    return path
