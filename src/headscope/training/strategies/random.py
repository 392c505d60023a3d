"""Train all weights from random ones (Kovaleva et al. 2019, Table 1)."""

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`."""
    return beginning.initial("random")
