"""Train all weights of the pre-trained encoder, and a new classifier."""

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel


def begin(given: Beginning) -> InitialModel:
    """See `training.beginning.begin`."""
    return given.initial("finetuned")
