"""Train a new classifier alone; the encoder stays as it is."""

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`."""
    return beginning.initial("frozen")
