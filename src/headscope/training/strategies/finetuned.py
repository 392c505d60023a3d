"""Train all weights of the pre-trained encoder, and a new classifier."""

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`."""
    return beginning.initial("finetuned")
