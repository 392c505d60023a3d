"""Whom to cite for a result: headscope, and the papers that its numbers are from."""

import json
import re
from functools import cache
from pathlib import Path

import xarray as xr

from headscope.version import __version__

FILE = Path(__file__).with_name("bibliography.bib")
FIELD = re.compile(r"(?:(?<=, )|(?<={))(\w+) = {(.*?)}(?=, \w+ = {|}$)")
# What everything rests on, cited where no result is named.
MAIN = ("Kovaleva et al. 2019", "Clark et al. 2019", "Rogers et al. 2020")
OWN = (
    "@software{headscope, author = {{The headscope contributors}}, title = {headscope: What every attention head of a "
    f"transformer does}}, version = {{{__version__}}}, year = {{2026}}}}"
)


def cite(*results: xr.Dataset) -> str:
    """A sentence for the methods section about each result, and whom to cite, as BibTeX.

    * `results`: they are from headscope and the papers that their numbers name as a source; without a result the three
      papers are named that headscope implements.

    >>> print(cite().splitlines()[0])
    @software{headscope,
    """
    sources = " ".join(str(array.attrs.get("source", "")) for result in results for array in result.variables.values())
    entries = [entry for citation, entry in bibliography().items() if citation in (sources if results else MAIN)]
    return "\n\n".join([*map(methods, results), *map(laid_out, [OWN, *entries])])


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by how headscope cites them, such as "Abnar and Zuidema 2020"."""
    return {citation(entry): entry for entry in FILE.read_text(encoding="utf-8").splitlines()}


def citation(entry: str) -> str:
    """How headscope cites an entry; a field `cited` says it where "et al." names two papers of one year.

    >>> citation("@misc{x, author = {Li, Hao and Xu, Zheng and Taylor, Gavin}, year = {2018}}")
    'Li et al. 2018'
    """
    fields = dict(FIELD.findall(entry))
    names = [name.split(",")[0] for name in fields["author"].split(" and ")]
    return fields.get("cited") or f"{names[0] + ' et al.' if len(names) > 2 else ' and '.join(names)} {fields['year']}"


def laid_out(entry: str) -> str:
    """An entry with a line for each field."""
    head, fields = entry.split(", ", 1)[0], [field for field in FIELD.findall(entry) if field[0] != "cited"]
    return "\n".join([f"{head},", *(f"  {name} = {{{value}}}," for name, value in fields), "}"])


def methods(result: xr.Dataset) -> str:
    """A sentence for the methods section: the model, the programs, the inputs, and how intervals were made."""
    about = {name: json.loads(result.attrs.get(name) or "{}") for name in ("versions", "settings")}
    versions = ", ".join(f"{name} {about['versions'][name]}" for name in ("torch", "transformers") if about["versions"])
    sizes = (
        f", {result.sizes['layer']} layers of {result.sizes['head']} heads"
        if {"layer", "head"} <= {*result.dims}
        else ""
    )
    hashed = f"; sha256 of its weights {sha[:12]}" if (sha := result.attrs.get("model_sha256")) else ""
    drawn = f" ({result.attrs['drawn']})" if result.attrs.get("drawn") else ""
    resamples, units = about["settings"].get("resamples"), result.attrs.get("resampled", "")
    intervals = f" Intervals of 95% are from {resamples:,} resamples of {units}." if resamples and units else ""
    return (
        f"We measured {result.attrs['model']} ({result.attrs['model_type']}{sizes}{hashed}) with headscope "
        f"{result.attrs['headscope_version']} ({result.attrs['study']}; {versions}), seed {result.attrs['seed']}, on "
        f"{int(result.attrs['n_examples']):,} inputs of {result.attrs['corpus']}{drawn}.{intervals}"
    )
