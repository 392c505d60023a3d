"""Load a model, observe its attention, and bring a corpus to it as batches."""

from headscope.models.load import load
from headscope.models.model import Model, wrap

__all__ = ["Model", "load", "wrap"]
