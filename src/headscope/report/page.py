"""A result as one offline HTML page, with its figures as files beside it."""

import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
import xarray as xr

from headscope import results
from headscope.figures._export import VEGA_LITE, save_spec, write_whole
from headscope.report._facts import glossary, lead, provenance, summary
from headscope.report._markup import readable
from headscope.report._specs import digest, embedded, script_json
from headscope.report._tables import complete, top_heads
from headscope.report.charts import drawn
from headscope.report.findings import found
from headscope.report.parts import Figure
from headscope.report.tables import shown

EXPORTED = "window.vegaEmbed = vegaEmbed;"
TEMPLATES = Path(__file__).parent / "templates"


def write(result: xr.Dataset, directory: str | Path) -> Path:
    """Write `directory/report.html` and `directory/figures/`; return the path of the page.

    The page needs no network and no file beside it; the figures are SVG, PDF and PNG for a paper.
    Raises `HeadscopeError` if the folder cannot be written to, `ValueError` if the result does not use
    the words of `results.DIMENSIONS`.
    """
    directory = Path(directory)
    figures = [_safe(figure) for figure in drawn(results.check(result))]
    specs = {figure.name: figure.chart.to_dict(validate=False) for figure in figures}
    for name, spec in specs.items():
        save_spec(spec, directory / "figures" / name)
    return write_whole(directory / "report.html", html(result, figures, specs).encode())


def rebuild(directory: str | Path) -> Path:
    """Write the page of a saved result again; return its path.

    Raises `HeadscopeError` if the folder has no result or cannot be written to.
    """
    return write(results.read(directory), directory)


def html(result: xr.Dataset, figures: list[Figure], specs: dict[str, Any]) -> str:
    """The page as text. Whatever comes from the result is escaped; only the page's own scripts may run."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["readable"] = readable
    scripts = [vega(), (TEMPLATES / "page.js").read_text(encoding="utf-8")]
    return environment.get_template("page.html").render(
        **_contents(result, figures),
        style=(TEMPLATES / "style.css").read_text(encoding="utf-8"),
        scripts=scripts,
        allowed=" ".join(f"'{digest(script)}'" for script in scripts),
        json=script_json(embedded(specs)),
    )


def _contents(result: xr.Dataset, figures: list[Figure]) -> dict[str, Any]:
    """What the template shows."""
    names = results.means(result)
    return {
        "attrs": result.attrs,
        "lead": lead(result),
        "facts": summary(result),
        "findings": found(result),
        "own": shown(result),
        "n_heads": result.sizes.get("layer", 0) * result.sizes.get("head", 0),
        "sections": [(title, list(group)) for title, group in groupby(figures, key=lambda figure: figure.section)],
        "top": [table for name in names if (table := top_heads(result, name)) is not None],
        "tables": [complete(result, name) for name in names],
        "glossary": glossary(result),
        "provenance": provenance(result),
    }


def _safe(figure: Figure) -> Figure:
    """The figure with a name that is safe as a file and in the page."""
    name = re.sub(r"[^\w-]+", "-", figure.name)
    return Figure(name, figure.section, figure.chart, figure.caption, figure.variable)


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, in a scope of its own."""
    return "{" + vl_convert.javascript_bundle(EXPORTED, VEGA_LITE) + "}"
