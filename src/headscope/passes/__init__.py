"""Passes of a model over a corpus or over a task's examples."""

from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.passes.settings import DEFAULTS, Settings

__all__ = ["DEFAULTS", "Pass", "PassResult", "Settings"]
