"""Passes of a model over a corpus or over a task's examples."""

from headscope.engine.passes import Pass, PassResult
from headscope.engine.settings import DEFAULTS, Settings

__all__ = ["DEFAULTS", "Pass", "PassResult", "Settings"]
