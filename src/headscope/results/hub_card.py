"""The card of a data set repository of results: what they are, how they are opened, and which text they hold."""

import json
from collections.abc import Mapping

import xarray as xr

MARK = "<!-- This card is made by headscope push, which replaces it. -->"
# Text that every result of its study has, whatever was read.
FIXED = {
    "token_class",
    "feature",
    "direction",
    "bound",
    "pattern",
    "metric",
    "half",
    "estimator",
    "query_group",
    "init",
}
KEYS = ("study", "model", "corpus", "n_examples", "headscope_version")
NOTE = (
    "Beside these files nothing was uploaded: no corpus, no model. Each result names its model, its corpus and its\n"
    "command, and so the files that its author named on the command line.\n"
)


def card(name: str, saved: Mapping[str, xr.Dataset]) -> str:
    """Markdown with the header of a card; `saved`: the results by their folders in the repository."""
    header = ["---", "tags:", "- headscope", "viewer: false", "---", "", MARK, ""]
    opened = ["```sh", f"headscope report hf://{name}", "```", "", "```python", "import headscope", ""]
    opened += [f'headscope.open_result("hf://{name}/{next(iter(saved))}")', "```", ""]
    rows = [
        f"| {_plain(folder)} | {' | '.join(_plain(result.attrs[key]) for key in KEYS)} |"
        for folder, result in saved.items()
    ]
    table = ["| folder | study | model | corpus | examples | headscope |", "| --- " * 6 + "|", *rows, ""]
    text = [f"* {_plain(folder)}: {', '.join(_texts(result)) or 'none'}" for folder, result in saved.items()]
    body = [f"# {name}", "", "Results of [headscope](https://pypi.org/project/headscope/), as netCDF.", "", *table]
    body += ["## Open them", "", *opened, "## Text that they hold", "", *text, "", NOTE]
    return "\n".join([*header, *body])


def _texts(result: xr.Dataset) -> list[str]:
    """The variables that may hold words or ids of a corpus, and how many values each has."""
    arrays = {str(name): array for name, array in result.variables.items() if array.dtype.kind in "OU"}
    words = [f"{name} ({array.size:,})" for name, array in arrays.items() if name not in FIXED]
    return words + (["the command"] if json.loads(result.attrs.get("command", "[]")) else [])


def _plain(value: object) -> str:
    """Text without line breaks and Markdown's marks."""
    return "".join(character for character in " ".join(str(value).split()) if character not in "`|<>[]")
