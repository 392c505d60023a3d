"""Results on the Hugging Face hub: those of a data set repository that a user names are downloaded.

An address is `hf://OWNER/NAME`, or `hf://OWNER/NAME/FOLDER` for the results in a folder of the repository.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.storage.files import files_within, write_atomically
from headscope.storage.limits import SECONDS, limit_waiting

# A path has one slash where the address has two.
ADDRESS = re.compile(r"hf:/{1,2}(?:datasets/)?([\w.-]+/[\w.-]+)/?((?:[\w.-]+/?)*)")
FETCHED = Path("out", "hub")
FILE = "result.nc"


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
    with asking(name):
        if not offline:
            # first, since `snapshot_download` waits long for a silent network
            there = HfApi().dataset_info(name, timeout=SECONDS).siblings or []
            if not any(fnmatchcase(file.rfilename, pattern) for file in there for pattern in patterns):
                raise HeadscopeError(f"data set '{name}' has no {FILE} in '{below or '.'}'; name another folder of it")
        folder = snapshot_download(name, repo_type="dataset", allow_patterns=patterns, local_files_only=offline)
    return Path(folder, below)


def _parsed(source: str) -> tuple[str, str]:
    """The name of the repository, and the folder in it."""
    match = ADDRESS.fullmatch(source)
    if match is None or ".." in source.split("/"):
        raise HeadscopeError(f"'{source}' is no address of results; write hf://OWNER/NAME or hf://OWNER/NAME/FOLDER")
    return match[1], match[2].strip("/")


@contextmanager
def asking(name: str) -> Iterator[None]:
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
