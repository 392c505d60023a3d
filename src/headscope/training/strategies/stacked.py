"""Train all weights from a copy whose upper half has the weights of the lower one (stacking: Gong et al. 2019).

Gong et al. stack a shallow model that was trained, to train a deep one; here the shallow one is the lower half.
"""

from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel
from headscope.training.strategies._layers import layers


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`. The last of an odd number of layers stays as it is."""
    start = beginning.initial()
    stack = layers(start)
    half = len(stack) // 2
    for lower, upper in zip(stack[:half], stack[half : 2 * half], strict=True):
        upper.load_state_dict(lower.state_dict())
    return start
