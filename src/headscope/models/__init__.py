"""Models: load or wrap one, to observe or change its attention."""

from headscope.models.load import load
from headscope.models.model import Model, wrap

__all__ = ["Model", "load", "wrap"]
