"""Pages from templates: whole, offline, escaped, and easy to scan: heads stand out, intervals stand back.

Charts are JSON of a page: the data apart, as columns, each set once.
"""

import hashlib
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from headscope.catalog import missing, require
from headscope.errors import HeadscopeError
from headscope.figures.conversion import replace_controls
from headscope.figures.export import VEGA_LITE
from headscope.figures.fit import fitted
from headscope.storage.files import write_atomically

EXPORTED = "window.vegaEmbed = vegaEmbed;"
# The widths for which each chart is laid out, in pixels: a wide page; half of it, a phone.
WIDE, NARROWER = 1040, (640, 340)
TEMPLATES, STATIC = (Path(__file__).parent / name for name in ("templates", "static"))


def rendered(template: str, specs: dict[str, Any], **contents: Any) -> str:
    """A page with its charts. Whatever comes from a result is escaped; only the page's own scripts may run."""
    no_figures = missing("vl_convert")
    library, script = vega() if specs and not no_figures else "", joined(STATIC / "report.js")
    return fragment(
        template,
        **contents,
        style="".join(
            (TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "atlas.css", "portrait.css")
        ),
        library=library,
        script=script,
        allowed=" ".join(f"'{digest(source)}'" for source in (library, script)),
        no_figures=no_figures,
        json=charts_json(specs),
    )


def fragment(template: str, **contents: Any) -> str:
    """A piece of a page, such as the card of a head. Whatever comes from a result is escaped."""
    return _environment().get_template(template).render(**contents)


@cache
def _environment() -> jinja2.Environment:
    """The templates; one environment compiles each once."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    filters = (readable, unbroken, in_cells, script_json)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, in a scope of its own.

    It is the same for all pages of a version: a copy in the user's cache folder saves a second and more.
    """
    # without a folder to read and write, the next page takes as long as this one
    with suppress(RuntimeError, OSError, ValueError):
        first, _, script = _kept_vega().read_text(encoding="utf-8").partition("\n")
        if first == f"// {digest(script)}":
            return script
    script = "{" + require("vl_convert").javascript_bundle(EXPORTED, VEGA_LITE) + "}"
    with suppress(RuntimeError, HeadscopeError):
        write_atomically(_kept_vega(), f"// {digest(script)}\n{script}")
    return script


def _kept_vega() -> Path:
    """The file of the script in the user's cache folder, after a line with its digest (`RuntimeError`: no home)."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headscope"
    return folder / f"vega-{VEGA_LITE}-{version('vl-convert-python')}.js"


HEAD = re.compile(r"\b(\d+-\d+)(?= \()")
INTERVAL = re.compile(r"(\[-?[\d.e+-]+, -?[\d.e+-]+\])")
COUNT = re.compile(r"(\bn = [\d,]+(?: to [\d,]+)?(?: examples)?)")
# A line may break after any hyphen.
POWER = re.compile(r"(\b[\d.]+e-\d+)")
# A text without any of these, and with nothing to escape.
PLAIN = re.compile(r"[\w .,:;()%→]*")


def readable(text: str) -> Markup:
    """The text, escaped, with marked heads, intervals and numbers of examples.

    >>> print(readable("<b> 8-10 (0.87 [0.85, 0.88])"))
    &lt;b&gt; <b>8-10</b> (0.87 <span class="interval">[0.85, 0.88]</span>)
    """
    if PLAIN.fullmatch(text):
        return Markup(text)
    safe = HEAD.sub(r"<b>\1</b>", str(escape(text)))
    for pattern in (INTERVAL, COUNT):
        safe = pattern.sub(r'<span class="interval">\1</span>', safe)
    return _unbroken(safe)


def unbroken(text: str) -> Markup:
    """The text, escaped; no line ends within its numbers.

    >>> print(unbroken("6.1e-05, 0.2"))
    <span class="number">6.1e-05</span>, 0.2
    """
    return Markup(text) if PLAIN.fullmatch(text) else _unbroken(str(escape(text)))


def in_cells(cells: Iterable[tuple[str, str] | None]) -> Markup:
    """The cells of a row of a table: a value and its interval, or nothing. All of them at once: a page has thousands.

    >>> print(in_cells([("0.5", "0.2, 0.6"), None]))
    <td>0.5<i>0.2, 0.6</i></td><td></td>
    """
    beside = (f"<i>{unbroken(cell[1])}</i>" if cell and cell[1] else "" for cell in cells)
    values = (readable(cell[0]) if cell else "" for cell in cells)
    return Markup("".join(f"<td>{value}{interval}</td>" for value, interval in zip(values, beside, strict=True)))


def _unbroken(safe: str) -> Markup:
    return Markup(POWER.sub(r'<span class="number">\1</span>', safe))


DIGITS = 5


def charts_json(specs: dict[str, dict[str, Any]]) -> str:
    """The charts of a page at each of its widths, without characters that cannot be drawn."""
    fits = {f"{name}@{width}": fitted(spec, width) for name, spec in specs.items() for width in NARROWER}
    wide = {name: fitted(spec, WIDE) for name, spec in specs.items()}
    return replace_controls(script_json(embedded(wide | fits)))


def embedded(specs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The specifications of charts and, apart, the data that they name.

    Charts that draw the same rows share them; values keep five significant digits (`result.nc` has all).
    """
    data: dict[str, Any] = {}
    return {"specs": {name: _taken_apart(spec, data) for name, spec in specs.items()}, "data": data}


def _taken_apart(spec: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A specification without its rows; they go to `data` as columns."""
    rows = spec.get("datasets", {})
    data.update({key: columns(value) for key, value in rows.items() if key not in data})
    return {**{key: value for key, value in spec.items() if key != "datasets"}, "uses": list(rows)}


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns: numbers as lists, missing ones None; words as a list of distinct ones and indices into it.

    >>> columns([{"task": "rte", "value": 0.12345678}, {"task": "rte"}])
    {'task': {'words': ['rte'], 'at': [0, 0]}, 'value': [0.12346, None]}
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: _column([row.get(key) for row in rows]) for key in keys}


def _column(values: list[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return [_rounded(value) if isinstance(value, float) else value for value in values]
    words = list(dict.fromkeys(values))
    number = {word: index for index, word in enumerate(words)}
    return {"words": words, "at": [number[value] for value in values]}


def _rounded(value: float) -> float | None:
    """The value as a page keeps it; None in the place of one that JSON does not have."""
    return float(f"{value:.{DIGITS}g}") if isfinite(value) else None


def script_json(value: object) -> str:
    """JSON whose texts cannot end the script element.

    >>> script_json("</script><!--")
    '"\\\\u003c/script>\\\\u003c!--"'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def digest(script: str) -> str:
    """The hash by which the page's policy lets a script run."""
    return "sha256-" + b64encode(hashlib.sha256(script.encode()).digest()).decode()


IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async |function |const |class )", re.MULTILINE)


def joined(*entries: Path) -> str:
    """Modules and all that they import as one script, each once and after its own imports.

    The modules keep to rules that make this possible: imports of one line that rename nothing, and top-level names that
    are unique among all modules.

    >>> "import " in joined(STATIC / "kind_legend.js") or "export " in joined(STATIC / "kind_legend.js")
    False
    """
    return "\n".join(_in_order(entries, set()))


def _in_order(paths: Iterable[Path], done: set[Path]) -> Iterator[str]:
    for path in paths:
        if path not in done:
            done.add(path)
            text = path.read_text(encoding="utf-8")
            yield from _in_order([_imported(path.parent, name) for name in IMPORT.findall(text)], done)
            yield EXPORT.sub("", IMPORT.sub("", text))


def _imported(folder: Path, name: str) -> Path:
    """A module beside the one that imports it, or else one of those that all pages share."""
    return folder / name if (folder / name).is_file() else STATIC / name
