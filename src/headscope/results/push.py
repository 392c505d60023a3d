"""Upload of saved results to a data set repository of the Hugging Face hub, with a card."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.results.files import read
from headscope.results.hub import FILE, asking
from headscope.results.tables import plain
from headscope.storage.files import files_within

README = "README.md"
MARK = "<!-- This card is made by headscope push, which replaces it. -->"
# Text that every result of its study has, whatever was read.
FIXED = {
    *("token_class", "feature", "direction", "bound", "pattern", "metric", "half", "estimator", "query_group", "init")
}
KEYS = ("study", "model", "corpus", "n_examples", "headscope_version")
NOTE = (
    "Beside these files nothing was uploaded: no corpus, no model. Each result names its model, its corpus and its\n"
    "command, and so the files that its author named on the command line.\n"
)


def push(directory: Path, name: str, *, public: bool = False) -> str:
    """Upload the results in a folder, and folders within it, to a data set repository, which is made if it is missing.

    Raises `HeadscopeError` if there is no result, one cannot be read, or the hub refuses it or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    if not (paths := files_within(directory, FILE)):
        raise HeadscopeError(f"'{directory}' has no {FILE}, nor has a folder in it; name a folder that a study wrote")
    saved = {path.relative_to(directory).parent.as_posix(): read(path) for path in paths}
    if get_token() is None:
        raise HeadscopeError("there is no token of the hub; run 'hf auth login', or set HF_TOKEN to one that may write")
    with asking(name):
        api = HfApi()
        url = api.create_repo(name, repo_type="dataset", private=not public, exist_ok=True)
        contents: dict[str, Path | bytes] = {path.relative_to(directory).as_posix(): path for path in paths}
        if not _has_foreign_card(api, url.repo_id):
            contents[README] = card(url.repo_id, saved).encode()
        adds = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=content) for path, content in contents.items()]
        api.create_commit(url.repo_id, adds, repo_type="dataset", commit_message=f"{len(saved)} results of headscope")
    return str(url)


def _has_foreign_card(api: Any, name: str) -> bool:
    """Whether a repository has a card that somebody wrote, which stays."""
    if not api.file_exists(name, README, repo_type="dataset"):
        return False
    return MARK not in Path(api.hf_hub_download(name, README, repo_type="dataset")).read_text(encoding="utf-8")


def card(name: str, saved: Mapping[str, xr.Dataset]) -> str:
    """Markdown with the header of a card; `saved`: the results by their folders in the repository."""
    header = ["---", "tags:", "- headscope", "viewer: false", "---", "", MARK, ""]
    opened = ["```sh", f"headscope report hf://{name}", "```", "", "```python", "import headscope", ""]
    opened += [f'headscope.open_result("hf://{name}/{next(iter(saved))}")', "```", ""]
    rows = [
        f"| {plain(folder)} | {' | '.join(plain(result.attrs[key]) for key in KEYS)} |"
        for folder, result in saved.items()
    ]
    table = ["| folder | study | model | corpus | examples | headscope |", "| --- " * 6 + "|", *rows, ""]
    text = [f"* {plain(folder)}: {', '.join(_texts(result)) or 'none'}" for folder, result in saved.items()]
    body = [f"# {name}", "", "Results of [headscope](https://pypi.org/project/headscope/), as netCDF.", "", *table]
    body += ["## Open them", "", *opened, "## Text that they hold", "", *text, "", NOTE]
    return "\n".join([*header, *body])


def _texts(result: xr.Dataset) -> list[str]:
    """The variables that may hold words or ids of a corpus, and how many values each has."""
    arrays = {str(name): array for name, array in result.variables.items() if array.dtype.kind in "OU"}
    words = [f"{name} ({array.size:,})" for name, array in arrays.items() if name not in FIXED]
    return words + (["the command"] if json.loads(result.attrs.get("command", "[]")) else [])
