"""headscope: what every attention head of a transformer does, which heads matter, and what fine-tuning changed.

The public names; each is imported when it is first used, so that reading a saved result needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headscope.corpora import Corpus, read
    from headscope.engine import Settings
    from headscope.errors import HeadscopeError
    from headscope.models import Model, load, wrap
    from headscope.report import write as write_report
    from headscope.results import read as open_result
    from headscope.results import save as save_result
    from headscope.studies.profile import run as profile

__version__ = "0.1.0"

_PUBLIC = {
    "Corpus": ("corpora", "Corpus"),
    "HeadscopeError": ("errors", "HeadscopeError"),
    "Model": ("models", "Model"),
    "Settings": ("engine", "Settings"),
    "load": ("models", "load"),
    "open_result": ("results", "read"),
    "profile": ("studies.profile", "run"),
    "read": ("corpora", "read"),
    "save_result": ("results", "save"),
    "wrap": ("models", "wrap"),
    "write_report": ("report", "write"),
}

__all__ = [
    "Corpus",
    "HeadscopeError",
    "Model",
    "Settings",
    "load",
    "open_result",
    "profile",
    "read",
    "save_result",
    "wrap",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headscope' has no attribute '{name}'")
    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"headscope.{module}"), attribute)
