"""Labelling: maps of attention shown one at a time on a local page, labelled by keyboard.

The page needs the extra `label`; sampling, sessions and agreement do not.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from headscope.catalog import require
from headscope.studies.patterns.labels.annotators import Session, agreement, label_path, opened
from headscope.studies.patterns.labels.sample import sampled

if TYPE_CHECKING:
    from headscope.studies.patterns.labels.server import application, serve

__all__ = ["Session", "agreement", "application", "label_path", "opened", "sampled", "serve"]


def __getattr__(name: str) -> object:
    if name not in ("application", "serve"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    for package in ("starlette", "uvicorn"):
        require(package)
    return getattr(import_module(f"{__name__}.server"), name)
