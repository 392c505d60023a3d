"""What of a model its class can lose, and what a smaller one keeps."""

from dataclasses import dataclass

from torch import nn
from transformers import PreTrainedModel

from headscope.capture.layer_stack import Stack, stack
from headscope.errors import HeadscopeError
from headscope.models.feed_forward import FeedForward, feed_forwards, width_name
from headscope.models.head_slicing import uncuttable
from headscope.models.model import COUNTED_FROM_PADDING, Model
from headscope.models.pruned_checkpoint import pruning_of
from headscope.models.smaller_vocabulary import can_lose_pieces

Numbers = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Kept:
    """The parts of a model that stay; all count from 0 and are in ascending order, and None keeps all.

    * `neurons`, `heads`: of each layer of the original model; an ordinary class holds the same number in all layers.
    * `pieces`: ids of the vocabulary; `tokens`: the longest input, special tokens included.
    """

    layers: tuple[int, ...] | None = None
    neurons: Numbers | None = None
    heads: Numbers | None = None
    pieces: tuple[int, ...] | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class RemovableParts:
    """What can be cut out of a model: layers, heads, pieces of the vocabulary, rows of its position table.

    * `feed_forward`: the maps of its layers, None where these cannot be found.
    """

    stack: Stack
    feed_forward: tuple[FeedForward, ...] | None
    heads: bool
    pieces: bool
    table: int | None


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
    layers = layers_of(model)
    maps = feed_forwards(layers)
    if maps and (len({part.width for part in maps}) > 1 or width_name(model.network, maps[0].width) is None):
        maps = None
    explicit = getattr(config, "head_dim", None) is not None
    heads = (explicit or fine) and len(set(model.capture.heads)) == 1 and uncuttable(model) is None
    return RemovableParts(layers, maps, heads, can_lose_pieces(model.tokenizer), _table_rows(model.network))


def layers_of(model: Model) -> Stack:
    """The layers of a model, each with its own weights. Raises `HeadscopeError` if there are none."""
    layers = stack(model.network, len(model.capture.heads))
    if layers is None or len(set(layers.layers)) < len(layers.layers):
        raise HeadscopeError(
            f"model '{model.name}' has no layers that follow each other, each with its weights; use another"
        )
    return layers


def position_rows(model: Model, tokens: int) -> int:
    """The rows of a position table for inputs of `tokens` tokens; some families begin after the padding token."""
    config = model.network.config
    first = (config.pad_token_id or 0) + 1 if config.model_type in COUNTED_FROM_PADDING else 0
    return tokens + first


def embedding_tables(network: nn.Module) -> list[nn.Embedding]:
    """The tables of embeddings of a network: of words, positions and segments."""
    return [module for module in network.modules() if isinstance(module, nn.Embedding)]


def position_tables(network: PreTrainedModel) -> list[nn.Embedding]:
    """The tables of positions of a network; none where it has another way to tell them."""
    rows = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return [
        table
        for table in embedding_tables(network)
        if table.num_embeddings == rows and table is not network.get_input_embeddings()
    ]


def _table_rows(network: PreTrainedModel) -> int | None:
    tables = position_tables(network)
    return tables[0].num_embeddings if len(tables) == 1 else None
