"""Train the last layers and a new classifier; embeddings and lower layers stay as they are (Lee et al. 2019)."""

from headscope.errors import HeadscopeError
from headscope.training.beginning import Beginning
from headscope.training.initialisation import InitialModel
from headscope.training.strategies._layers import layers, train_only

OPTIONS = ("top_layers",)


def begin(beginning: Beginning) -> InitialModel:
    """See `training.beginning.begin`.

    What comes behind the layers, such as the pooler, is trained too.

    Raises `HeadscopeError` if the model has fewer layers.
    """
    start, number = beginning.initial(), beginning.options.top_layers
    stack = layers(start)
    if number > len(stack):
        raise HeadscopeError(f"top layers {number}: the model has {len(stack)}; use a smaller number")
    pooler = getattr(start.network.base_model, "pooler", None)
    train_only(start, [*stack[-number:], *([pooler] if pooler is not None else [])])
    return start
