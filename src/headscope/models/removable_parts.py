"""What of a model its class can lose, and what a smaller one keeps."""

from dataclasses import dataclass

from headscope.capture.layer_stack import Stack, stack
from headscope.errors import HeadscopeError
from headscope.models.feed_forward import FeedForward, feed_forwards, width_name
from headscope.models.head_slicing import uncuttable
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import pruning_of

Numbers = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Kept:
    """The parts of a model that stay; all count from 0, and None keeps all.

    * `layers`: those that stay, in ascending order.
    * `neurons`, `heads`: of each layer of the original model; an ordinary class holds the same number in all layers.
    * `pieces`: ids of the vocabulary, in ascending order.
    """

    layers: tuple[int, ...] | None = None
    neurons: Numbers | None = None
    heads: Numbers | None = None
    pieces: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RemovableParts:
    """What can be cut out of a model.

    * `stack`: its layers; `feed_forward`: their maps, None where these cannot be found.
    * `heads`: whether heads can.
    """

    stack: Stack
    feed_forward: tuple[FeedForward, ...] | None
    heads: bool


def parts_of(model: Model, *, fine: bool = False) -> RemovableParts:
    """The parts of a model that its class can lose.

    * `fine`: whether heads may go from single layers, so that the model is saved as a pruned one.

    Raises `HeadscopeError` if none can, or the model is quantised, pruned by head, or runs code of its own.
    """
    config, name = model.network.config, model.name
    if getattr(config, "quantization_config", None) or not model.network.dtype.is_floating_point:
        raise HeadscopeError(f"model '{name}' is quantised; shrink the model that it was made from")
    if pruning_of(config):
        raise HeadscopeError(
            f"model '{name}' has lost single heads or neurons, which its class cannot say; shrink the whole one"
        )
    if getattr(config, "auto_map", None):
        raise HeadscopeError(f"model '{name}' comes with code of its own; shrink a model of transformers")
    layers = stack(model.network, len(model.capture.heads))
    if layers is None or len(set(layers.layers)) < len(layers.layers):
        raise HeadscopeError(f"model '{name}' has no layers that follow each other, each with its weights; use another")
    maps = feed_forwards(layers)
    if maps and (len({part.width for part in maps}) > 1 or width_name(model.network, maps[0].width) is None):
        maps = None
    explicit = getattr(config, "head_dim", None) is not None
    heads = (explicit or fine) and len(set(model.capture.heads)) == 1 and uncuttable(model) is None
    return RemovableParts(layers, maps, heads)
