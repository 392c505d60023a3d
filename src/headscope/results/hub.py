"""Results on the Hugging Face hub: a data set repository of saved results, with a card. Nothing is asked unless named.

An address is `hf://OWNER/NAME`, or `hf://OWNER/NAME/FOLDER` for the results in a folder of the repository.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.storage.files import files_within, write_atomically
from headscope.storage.limits import SECONDS, limit_waiting

# A path has one slash where the address has two.
ADDRESS = re.compile(r"hf:/{1,2}(?:datasets/)?([\w.-]+/[\w.-]+)/?((?:[\w.-]+/?)*)")
FETCHED = Path("out", "hub")
FILE, README = "result.nc", "README.md"


def is_address(source: str | Path) -> bool:
    """Whether results are on the hub.

    >>> is_address("hf://someone/results"), is_address("out/profile")
    (True, False)
    """
    return str(source).startswith("hf:/")


def fetch(source: str | Path) -> Path:
    """The folder of some results; those of an address are downloaded, and copied to `out/hub/OWNER/NAME/FOLDER`.

    Raises `HeadscopeError` as `download`.
    """
    if not is_address(source):
        return Path(source)
    name, below = _parsed(str(source))
    folder = download(source)
    for path in files_within(folder, FILE, leave=True):  # the cache links its files
        write_atomically(FETCHED / name / below / path.relative_to(folder), path.read_bytes())
    return FETCHED / name / below


def download(source: str | Path) -> Path:
    """Download the results of an address, and nothing else; returns their folder in the cache of the hub.

    Raises `HeadscopeError` if there is no such repository or no result in it, or the hub cannot be reached.
    """
    from huggingface_hub import HfApi, constants, snapshot_download

    name, below = _parsed(str(source))
    within, offline = f"{below}/" if below else "", constants.HF_HUB_OFFLINE
    patterns = [f"{within}{FILE}", f"{within}*/{FILE}"]
    with _asking(name):
        if not offline:
            # first, since `snapshot_download` waits long for a silent network
            there = HfApi().dataset_info(name, timeout=SECONDS).siblings or []
            if not any(fnmatchcase(file.rfilename, pattern) for file in there for pattern in patterns):
                raise HeadscopeError(f"data set '{name}' has no {FILE} in '{below or '.'}'; name another folder of it")
        folder = snapshot_download(name, repo_type="dataset", allow_patterns=patterns, local_files_only=offline)
    return Path(folder, below)


def push(directory: Path, name: str, *, public: bool = False) -> str:
    """Upload the results in a folder, and folders within it, to a data set repository, which is made if it is missing.

    * `name`: OWNER/NAME; `public`: a new repository can be read by anybody.

    Returns: the address of its page.

    Raises `HeadscopeError` if there is no result, one cannot be read, or the hub refuses it or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    from headscope.results.files import read

    if not (paths := files_within(directory, FILE)):
        raise HeadscopeError(f"'{directory}' has no {FILE}, nor has a folder in it; name a folder that a study wrote")
    saved = {path.relative_to(directory).parent.as_posix(): read(path) for path in paths}
    if get_token() is None:
        raise HeadscopeError("there is no token of the hub; run 'hf auth login', or set HF_TOKEN to one that may write")
    with _asking(name):
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


def _parsed(source: str) -> tuple[str, str]:
    """The name of the repository, and the folder in it."""
    match = ADDRESS.fullmatch(source)
    if match is None or ".." in source.split("/"):
        raise HeadscopeError(f"'{source}' is no address of results; write hf://OWNER/NAME or hf://OWNER/NAME/FOLDER")
    return match[1], match[2].strip("/")


@contextmanager
def _asking(name: str) -> Iterator[None]:
    """Within this context, in which the hub is asked for a data set, what goes wrong is one line."""
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import disable_progress_bars

    limit_waiting()
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        yield
    except HeadscopeError:
        raise
    except (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError) as error:
        remedy = "connect and try again, without HF_HUB_OFFLINE"
        raise HeadscopeError(f"data set '{name}' is not here, and the hub is not asked offline; {remedy}") from error
    except errors.HFValidationError as error:
        raise HeadscopeError(f"'{name}' is no name of a data set; write OWNER/NAME") from error
    except errors.RepositoryNotFoundError as error:
        remedy = "check its name, or log in with 'hf auth login' if it is private"
        raise HeadscopeError(f"data set '{name}' is not on the hub; {remedy}") from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        remedy = "log in with a token that may ('hf auth login')" if status in (401, 403) else "try again later"
        raise HeadscopeError(f"the hub refuses this for data set '{name}' (status {status}); {remedy}") from error
    except Exception as error:  # the libraries under the hub raise their own kinds for a lost network
        where = f"data set '{name}': the hub at {constants.ENDPOINT} cannot be reached, or does not answer"
        raise HeadscopeError(f"{where}; connect and try again, or correct HF_ENDPOINT") from error


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


def plain(value: object) -> str:
    """Text without line breaks and Markdown's marks."""
    return "".join(character for character in " ".join(str(value).split()) if character not in "`|<>[]")
