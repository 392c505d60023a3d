"""Pages from templates: whole, offline, and escaped."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from headscope.extras import missing, require
from headscope.figures.export import VEGA_LITE
from headscope.report.chart_data import digest, embedded, script_json
from headscope.report.markup import readable

EXPORTED = "window.vegaEmbed = vegaEmbed;"
TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, specs: dict[str, Any], **contents: Any) -> str:
    """A page with its charts. Whatever comes from a result is escaped; only the page's own scripts may run."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["readable"] = readable
    no_figures = missing("vl_convert")
    scripts = [*([] if no_figures else [vega()]), (TEMPLATES / "page.js").read_text(encoding="utf-8")]
    return environment.get_template(template).render(
        **contents,
        style=(TEMPLATES / "style.css").read_text(encoding="utf-8"),
        scripts=scripts,
        allowed=" ".join(f"'{digest(script)}'" for script in scripts),
        no_figures=no_figures,
        json=script_json(embedded(specs)),
    )


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, in a scope of its own."""
    return "{" + require("vl_convert").javascript_bundle(EXPORTED, VEGA_LITE) + "}"
