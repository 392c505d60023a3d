"""Figures as files for a paper: SVG, PDF and PNG, drawn without a network."""

from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from headscope.files import write_atomically

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
    return [write_atomically(stem.with_name(stem.name + suffix), content) for suffix, content in contents.items()]
