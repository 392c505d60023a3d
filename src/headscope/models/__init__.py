"""Models: load or wrap one, to observe or change its attention.

The public names are imported when they are first used: to find the files of a model needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headscope.models.loading import load
    from headscope.models.model import Model, wrap

__all__ = ["Model", "load", "wrap"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{'loading' if name == 'load' else 'model'}"), name)
